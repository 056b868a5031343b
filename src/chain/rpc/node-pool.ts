import type { Logger } from '../../log.ts';
import { blockAtDepth } from './finalized-block.ts';
import { createNetworkPace } from './network-pace.ts';
import { agreeOnFinality, findDisagreement, findForked, type Witness } from './node-agreement.ts';
import { NodesUnavailableError } from './node-fault.ts';
import { isInUse } from './node-judgement.ts';
import type { BlockId, Sight } from './node-look.ts';
import {
  hashAt,
  judgeMember,
  lookAt,
  type Member,
  type NodeStatus,
  setJudgement,
  statusOf,
} from './node-member.ts';
import type { PinnedNode } from './pinned-node.ts';

/** What a network counts as confirmed and as final. */
export type DepthRules = { readonly confirmations: number; readonly finalityDepth: number };

/** The nodes of one network, judged by looking at all of them side by side. */
export type NodePool = {
  /**
   * Looks at all nodes and chooses the one that everything up to the next look is asked of.
   * @throws NodesUnavailableError when none can be used
   */
  pin(rules: DepthRules): Promise<PinnedNode>;
  /** Looks at the nodes without choosing one, when nobody has done so for some seconds. Does not wait. */
  refresh(): void;
  /** Whether a node may be asked while others are there. */
  isSound(member: Member): boolean;
  /** The nodes as the last look has left them. */
  status(): readonly NodeStatus[];
};

type PoolOptions = {
  readonly chainId: string;
  readonly members: readonly Member[];
  /** How many nodes must agree on what is final; by default 1 of one node and 2 of more. */
  readonly finalityNodes: number | undefined;
  readonly log: Logger;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
};

const refreshMs = 5_000;
// A node that fails now and then would make finality come and go with each look.
const unknownForMs = 5_000;

export function createNodePool({ chainId, members, finalityNodes, log, now }: PoolOptions): NodePool {
  const pace = createNetworkPace(now);
  const needed = finalityNodes ?? Math.min(members.length, 2);
  let lookedAt = now();
  let final: BlockId | undefined;
  let unknownSince: number | undefined;

  const look = async (): Promise<void> => {
    lookedAt = now();
    const sights = await lookAtAll(members, now());
    const heads = [...sights.values()].flatMap((sight) => (sight.kind === 'seen' ? [sight.head.number] : []));
    const best = heads.reduce((a, b) => (a > b ? a : b), -1n);
    if (best >= 0n) pace.saw(best);
    const around = { best, intervalMs: pace.intervalMs(), now: now(), date: new Date() };
    for (const member of members) judgeMember(member, sights.get(member), { chainId, around, log });
  };
  const looking = shareInFlight(look);

  /** Takes the nodes that contradict what is final out of use. */
  const leaveForked = async (witnesses: readonly MemberWitness[]): Promise<void> => {
    if (final === undefined) return;
    for (const { member } of await findForked(witnesses, final)) {
      member.forked = `its block ${final.number} is not ${final.hash}, which is final`;
      setJudgement(member, { state: 'forked', reason: member.forked }, log);
    }
  };
  /** Lets nodes back whose chain has what is final again. */
  const forgive = async (): Promise<void> => {
    if (final === undefined) return;
    for (const member of members) {
      if (member.forked === undefined || member.judgement.state !== 'forked') continue;
      if ((await hashAt(member, final.number)) !== final.hash) continue;
      member.forked = undefined;
      setJudgement(member, { state: 'usable', reason: '' }, log);
    }
  };

  const agree = async ({ confirmations, finalityDepth }: DepthRules) => {
    await forgive();
    const witnesses = () => inUse(members).flatMap((member) => asWitness(member, finalityDepth) ?? []);
    await leaveForked(witnesses());
    const vote = await agreeOnFinality(witnesses(), needed);
    // What was once final stays so, whatever the nodes say later.
    if (vote.block !== undefined && vote.block.number > (final?.number ?? -1n)) {
      final = vote.block;
      await leaveForked(witnesses());
    }
    unknownSince = vote.unknown === undefined ? undefined : (unknownSince ?? now());
    const isLasting = unknownSince !== undefined && now() - unknownSince >= unknownForMs;
    return {
      disagreement: await findDisagreement(witnesses(), confirmations),
      finalityUnknown: isLasting ? vote.unknown : undefined,
    };
  };

  return {
    async pin(rules) {
      await looking();
      const { disagreement, finalityUnknown } = await agree(rules);
      const member = choose(members);
      if (member?.seen === undefined) throw unavailable(chainId, members);
      return {
        label: member.endpoint.label,
        provider: member.provider,
        headBlock: member.seen.head.raw,
        finalized: (await isFinalOn(member, final)) ? (final?.number ?? -1n) : -1n,
        disagreement,
        finalityUnknown,
        broadcasters: broadcasters(members),
      };
    },
    refresh() {
      if (members.length > 1 && now() - lookedAt >= refreshMs) void looking();
    },
    isSound: ({ judgement }) => !['lagging', 'forked', 'foreign'].includes(judgement.state),
    status: () => members.map(statusOf),
  };
}

/**
 * Looks at every node in service. Nodes that failed are looked at in the background once their pause is over, so
 * that one that hangs costs a look its timeout once; when no other is left they are all that is looked at.
 */
async function lookAtAll(members: readonly Member[], now: number): Promise<Map<Member, Sight>> {
  const sights = new Map<Member, Sight>();
  const inService = members.filter(({ endpoint }) => endpoint.health.healthy());
  const lookAtThese = (those: readonly Member[]) =>
    Promise.all(those.map(async (member) => sights.set(member, await lookAt(member))));
  for (const member of members) {
    const isDue = !inService.includes(member) && now >= member.endpoint.health.retryAt();
    if (isDue && inService.length > 0) void lookAt(member);
  }
  await lookAtThese(inService);
  const isAnySeen = [...sights.values()].some(({ kind }) => kind === 'seen');
  if (!isAnySeen) await lookAtThese(members.filter((member) => !sights.has(member)));
  return sights;
}

type MemberWitness = Witness & { readonly member: Member };

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

const inUse = (members: readonly Member[]): Member[] =>
  members.filter(({ judgement }) => isInUse(judgement.state));

/** The node with the least trouble; of several, the operator's first. */
function choose(members: readonly Member[]): Member | undefined {
  return inUse(members).sort((one, other) => one.trouble - other.trouble)[0];
}

async function isFinalOn(member: Member, final: BlockId | undefined): Promise<boolean> {
  return final !== undefined && (await hashAt(member, final.number)) === final.hash;
}

/** Every node that a transaction may go to: a chain with another id must not see it. */
function broadcasters(members: readonly Member[]): PinnedNode['broadcasters'] {
  return members
    .filter(({ judgement }) => judgement.state !== 'foreign')
    .map(({ provider, endpoint }) => ({ provider, isWaitedFor: endpoint.health.healthy() }));
}

function unavailable(chainId: string, members: readonly Member[]): NodesUnavailableError {
  const attempts = members.map(({ endpoint, judgement }) => ({
    url: endpoint.label,
    message: judgement.reason,
  }));
  return new NodesUnavailableError(chainId, attempts);
}

/** Whoever calls while the work is under way gets its result. */
function shareInFlight(work: () => Promise<void>): () => Promise<void> {
  let inFlight: Promise<void> | undefined;
  return () => {
    inFlight ??= work().finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };
}
