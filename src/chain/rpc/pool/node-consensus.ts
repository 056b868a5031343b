import type { Logger } from '../../../base/log.ts';
import { blockAtDepth } from '../transport/finalized-block.ts';
import type { BlockId } from '../transport/node-look.ts';
import { createFinalMemory } from './final-memory.ts';
import {
  agreeOnFinality,
  type Dispute,
  disputeInWords,
  findDispute,
  findForked,
  type Witness,
} from './node-agreement.ts';
import { graceMs, isInUse } from './node-judgement.ts';
import { hashAt, type Member, setJudgement } from './node-member.ts';

/** What a network counts as confirmed and as final. */
export type DepthRules = { readonly confirmations: number; readonly finalityDepth: number };

/** What the nodes of a network agree on, over all polls. */
export type Consensus = {
  /** Compares the nodes in use. Takes those out of use that contradict what is final. */
  agree(rules: DepthRules): Promise<{
    /** How nodes differ about a block that counts as confirmed. */
    readonly disagreement: string | undefined;
    /** Why it is unknown what is final, and whether it has been for some time. */
    readonly finalityUnknown: { readonly why: string; readonly isLasting: boolean } | undefined;
  }>;
  /** The newest block that is agreed to be final and is on the chain of this node; -1n when there is none. */
  finalOn(member: Member): Promise<bigint>;
};

type ConsensusOptions = {
  readonly members: readonly Member[];
  /** How many nodes must agree on what is final. */
  readonly needed: number;
  readonly log: Logger;
  readonly now: () => number;
};

// A node that fails now and then would make finality come and go with each look.
const unknownForMs = 5_000;

// Of blocks between two looks. After a longer rest, it is said twice.
const usualLeap = 10_000n;

type MemberWitness = Witness & { readonly member: Member };

export function createConsensus({ members, needed, log, now }: ConsensusOptions): Consensus {
  // What was once final stays so, whatever the nodes say later, unless it was the lie of a moment.
  const final = createFinalMemory(members, now);
  let leap: (BlockId & { readonly at: number }) | undefined;
  let unknownSince: number | undefined;
  const disputes = createDisputes(now);

  /** Whether nothing speaks against it: a lie of one moment about a block far ahead would stay for good. */
  const isToBeBelieved = (block: BlockId): boolean => {
    if (final.block === undefined || block.number - final.block.number <= usualLeap) return true;
    if (leap === undefined || block.number < leap.number) leap = { ...block, at: now() };
    return now() - leap.at >= unknownForMs;
  };
  const heldAbove = (witnesses: readonly Witness[]): string | undefined => {
    const { number } = final.block ?? { number: -1n };
    const isAbove = witnesses.length > 0 && witnesses.every(({ head }) => head.number < number);
    return isAbove ? `Block ${number} was final, and no node has come to it.` : undefined;
  };

  return {
    async agree({ confirmations, finalityDepth }) {
      const witnesses = () => inUse(members).flatMap((member) => asWitness(member, finalityDepth) ?? []);
      if (final.block !== undefined) await judgeForks(members, witnesses(), final.block, log);
      const vote = await agreeOnFinality(witnesses(), needed);
      const newer =
        vote.block !== undefined && vote.block.number > (final.block?.number ?? -1n) ? vote.block : undefined;
      const isBelieved = newer !== undefined && isToBeBelieved(newer);
      if (isBelieved) {
        final.set(newer);
        await judgeForks(members, witnesses(), newer, log);
      }
      // Said at every look since, or it was the lie of one.
      if (isBelieved || newer === undefined) leap = undefined;
      const unknown = vote.unknown ?? heldAbove(witnesses());
      unknownSince = unknown === undefined ? undefined : (unknownSince ?? now());
      final.review();
      const isLasting = unknownSince !== undefined && now() - unknownSince >= unknownForMs;
      return {
        disagreement: await disputes.find(witnesses(), confirmations),
        finalityUnknown:
          unknown === undefined ? undefined : { why: `${unknown} ${silentOf(members)}`.trim(), isLasting },
      };
    },
    async finalOn(member) {
      const { block } = final;
      if (block === undefined) return -1n;
      return (await hashAt(member, block.number)) === block.hash ? block.number : -1n;
    },
  };
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

/** Takes nodes out of use whose chain contradicts what is final, and lets those back that no longer do. */
async function judgeForks(
  members: readonly Member[],
  witnesses: readonly MemberWitness[],
  final: BlockId,
  log: Logger,
): Promise<void> {
  for (const member of members) {
    if (member.judgement.state !== 'forked' || (await hashAt(member, final.number)) !== final.hash) continue;
    member.forked = undefined;
    setJudgement(member, { state: 'usable', reason: '' }, log);
  }
  for (const { member } of await findForked(witnesses, final)) {
    member.forked = `its block ${final.number} is not ${final.hash}, which is final`;
    setJudgement(member, { state: 'forked', reason: member.forked }, log);
  }
}

function asWitness(member: Member, finalityDepth: number): MemberWitness | undefined {
  if (member.seen === undefined) return undefined;
  const { head, finalized } = member.seen;
  const isSaid = typeof finalized === 'bigint' || finalized === 'unknown';
  const ownFinal = isSaid ? finalized : blockAtDepth(head.number, finalityDepth);
  return {
    member,
    label: member.endpoint.label,
    head,
    finalized: ownFinal === 'unknown' ? undefined : ownFinal,
    hashAt: (number) => hashAt(member, number),
  };
}

type OpenDispute = Dispute<MemberWitness> & { readonly at: number };

/** Remembers how nodes differ: one that fails for a moment must not leave the word to the one it disagrees with. */
function createDisputes(now: () => number) {
  let dispute: OpenDispute | undefined;

  return {
    /** How nodes differ now, or did when one that fails since was last seen. */
    async find(witnesses: readonly MemberWitness[], confirmations: number): Promise<string | undefined> {
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
  const silent = sides.filter(({ witness }) => witness.member.judgement.state === 'failing');
  const present = sides.filter(({ witness }) => isInUse(witness.member.judgement.state));
  const hashes = await Promise.all(present.map(({ witness }) => hashAt(witness.member, number)));
  return hashes.some((hash) => silent.some((side) => side.hash !== hash));
}
