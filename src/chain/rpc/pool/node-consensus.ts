import type { Logger } from '../../../base/log.ts';
import { blockAtDepth } from '../transport/finalized-block.ts';
import type { BlockId } from '../transport/node-look.ts';
import {
  agreeOnFinality,
  type Dispute,
  disputeInWords,
  findDispute,
  type Witness,
} from './node-agreement.ts';
import { graceMs, isInUse, type NodeJudgement } from './node-judgement.ts';
import { hashAt, type Member, setJudgement } from './node-member.ts';

/** What a network counts as confirmed and as final. */
export type FinalityRules = {
  readonly confirmations: number;
  readonly finalityDepth: number;
  /** The newest block that was final before, as it is stored; a chain without it is not believed. */
  readonly known?: BlockId | undefined;
};

/** What the nodes of a network agree on at one poll. */
export type Agreement = {
  /** How nodes differ about a block that counts as confirmed. */
  readonly disagreement: string | undefined;
  /** Why it is unknown what is final, and whether it has been for some time. */
  readonly finalityUnknown: { readonly why: string; readonly isLasting: boolean } | undefined;
  /** How the chain of every node contradicts the block that was final. */
  readonly rolledBack: string | undefined;
};

export type Consensus = {
  /** Compares the nodes in use. Takes those out of use that contradict what is final, as long as another does not. */
  agree(rules: FinalityRules): Promise<Agreement>;
  /** The newest block that is final and on the chain of this node, which may be behind; undefined when there is none. */
  finalOn(member: Member): Promise<BlockId | undefined>;
  /** The block that the poll before agreed to be final, or the newest block of this node below it: it was not the lie of one poll. */
  lastingOn(member: Member): Promise<BlockId | undefined>;
};

type ConsensusOptions = {
  readonly members: readonly Member[];
  /** How many nodes must agree on final blocks. */
  readonly needed: number;
  readonly log: Logger;
  readonly now: () => number;
};

// A node that fails now and then would make finality come and go with each poll.
const unknownForMs = 5_000;

export function createConsensus({ members, needed, log, now }: ConsensusOptions): Consensus {
  // The blocks that this poll and the poll before agreed to be final, and the stored final block.
  let agreed: BlockId | undefined;
  let before: BlockId | undefined;
  let known: BlockId | undefined;
  let unknownSince: number | undefined;
  const disputes = createDisputes(now);

  return {
    async agree({ confirmations, finalityDepth, known: stored }) {
      known = stored;
      const witnesses = () => inUse(members).flatMap((member) => asWitness(member, finalityDepth) ?? []);
      const contradiction = known && (await judgeForks(members, known, log));
      const vote = await agreeOnFinality(witnesses(), needed);
      before = agreed ?? before;
      agreed = vote.block;
      if (isNewer(agreed, known)) await judgeForks(members, agreed, log);
      const above = known && isAboveAll(witnesses(), known) ? known : undefined;
      const unknown =
        vote.unknown ?? (above && `Block ${above.number} was final, and no node has come to it.`);
      unknownSince = unknown === undefined ? undefined : (unknownSince ?? now());
      const isLasting = unknownSince !== undefined && now() - unknownSince >= unknownForMs;
      const tooShort = above && isLasting ? 'no node has come to it' : undefined;
      return {
        disagreement: await disputes.find(witnesses(), confirmations),
        finalityUnknown:
          unknown === undefined ? undefined : { why: `${unknown} ${silentOf(members)}`.trim(), isLasting },
        rolledBack: known && rollbackInWords(known, contradiction ?? tooShort, members),
      };
    },
    async finalOn(member) {
      const least = known && (await pastOn(member, known, members));
      if (known !== undefined && least === undefined) return undefined;
      const newest = isNewer(agreed, known) ? await pastOn(member, agreed, members) : undefined;
      return isNewer(newest, least) ? newest : least;
    },
    async lastingOn(member) {
      return before && pastOn(member, before, members);
    },
  };
}

/** Whether there is a block, above the other one if there is that. */
export const isNewer = (block: BlockId | undefined, other: BlockId | undefined): block is BlockId =>
  block !== undefined && block.number > (other?.number ?? -1n);

const isOn = async (member: Member, { number, hash }: BlockId): Promise<boolean> =>
  (await hashAt(member, number)) === hash;

/**
 * The block, or the newest block of a node that is behind it, where another node has both. Blocks below a final block are final.
 * @returns undefined when the node has another block there
 */
async function pastOn(
  member: Member,
  block: BlockId,
  members: readonly Member[],
): Promise<BlockId | undefined> {
  const head = member.seen?.head;
  if (head === undefined || head.number >= block.number)
    return (await isOn(member, block)) ? block : undefined;
  for (const other of inUse(members)) {
    if ((await isOn(other, block)) && (await isOn(other, head)))
      return { number: head.number, hash: head.hash };
  }
  return undefined;
}

const isAboveAll = (witnesses: readonly Witness[], { number }: BlockId): boolean =>
  witnesses.length > 0 && witnesses.every(({ head }) => head.number < number);

function rollbackInWords(
  known: BlockId,
  how: string | undefined,
  members: readonly Member[],
): string | undefined {
  if (how === undefined) return undefined;
  const what = `Block ${known.number}, ${known.hash}, was final, and ${how}: the chain was rolled back, or started again.`;
  return `${what} ${silentOf(members)}`.trim();
}

/** The nodes that have no part in finality, for people. */
function silentOf(members: readonly Member[]): string {
  const said = members.flatMap(({ endpoint, judgement, seen }) => {
    if (!isInUse(judgement.state)) return [`${endpoint.label} is ${judgement.state}`];
    return seen?.finalized === 'unknown' ? [`${endpoint.label} does not say what is final`] : [];
  });
  return said.map((text) => `${text}.`).join(' ');
}

/** The nodes that may be used, in the operator's order. */
export const inUse = (members: readonly Member[]): Member[] =>
  members.filter(({ judgement }) => isInUse(judgement.state));

/**
 * Takes nodes out of use whose chain contradicts a block that is final, and lets those back that have it. When every node that
 * answers contradicts the block, none is taken out.
 * @returns what they have instead, when that is so
 */
async function judgeForks(
  members: readonly Member[],
  final: BlockId,
  log: Logger,
): Promise<string | undefined> {
  const present = members.filter(({ judgement }) => isInUse(judgement.state) || judgement.state === 'forked');
  const shown = await Promise.all(
    present.map(async (member) => ({ member, hash: await hashAt(member, final.number) })),
  );
  const [other] = shown.filter(({ hash }) => hash !== undefined && hash !== final.hash);
  const isOfAll = shown.every(({ hash }) => hash !== undefined && hash !== final.hash);
  for (const { member, hash } of shown) {
    if (isOfAll || hash === final.hash) member.forked = undefined;
    else if (hash !== undefined)
      member.forked = `its block ${final.number} is not ${final.hash}, which is final`;
    setJudgement(member, judgeFork(member), log);
  }
  return isOfAll && other !== undefined
    ? `${other.member.endpoint.label} has ${other.hash} there`
    : undefined;
}

function judgeFork({ forked, judgement }: Member): NodeJudgement {
  if (forked !== undefined) return { state: 'forked', reason: forked };
  return judgement.state === 'forked' ? { state: 'usable', reason: '' } : judgement;
}

function asWitness(member: Member, finalityDepth: number): Witness | undefined {
  if (member.seen === undefined) return undefined;
  const { head, finalized } = member.seen;
  const isSaid = typeof finalized === 'bigint' || finalized === 'unknown';
  const ownFinal = isSaid ? finalized : blockAtDepth(head.number, finalityDepth);
  return { member, head, finalized: ownFinal === 'unknown' ? undefined : ownFinal };
}

type OpenDispute = Dispute & { readonly at: number };

/** Remembers how nodes differ: one that fails for a moment must not leave the word to the one it disagrees with. */
function createDisputes(now: () => number) {
  let dispute: OpenDispute | undefined;

  return {
    /** How nodes differ now, or did when one that fails since was last seen. */
    async find(witnesses: readonly Witness[], confirmations: number): Promise<string | undefined> {
      const found = await findDispute(witnesses, confirmations);
      if (found !== undefined) dispute = { ...found, at: now() };
      else if (dispute !== undefined && !(await isOpen(dispute, now()))) dispute = undefined;
      return dispute && disputeInWords(dispute);
    },
  };
}

/** Whether a dispute goes on because one side fails, and the other still has its own block. */
async function isOpen({ at, number, sides }: OpenDispute, now: number): Promise<boolean> {
  if (now - at > graceMs) return false;
  const silent = sides.filter(({ member }) => member.judgement.state === 'failing');
  const present = sides.filter(({ member }) => isInUse(member.judgement.state));
  const hashes = await Promise.all(present.map(({ member }) => hashAt(member, number)));
  return hashes.some((hash) => silent.some((side) => side.hash !== hash));
}
