import type { JsonRpcApiProvider } from 'ethers';
import type { Logger } from '../../../base/log.ts';
import type { RpcEndpoint } from '../transport/endpoint.ts';
import type { Sight } from '../transport/node-look.ts';
import {
  isInUse,
  judgeAbsent,
  judgeHead,
  type NodeJudgement,
  type NodeSurroundings,
  type Track,
} from './node-judgement.ts';

/** What operators are shown of one node. */
export type NodeStatus = NodeJudgement & {
  /** The node's URL without secret parts. */
  readonly node: string;
  /** Since when it is in this state, as this process has seen it. */
  readonly since: Date;
  readonly head: { readonly number: bigint; readonly hash: string; readonly time: Date } | undefined;
  /** What it says is final; undefined when it does not. */
  readonly finalized: bigint | undefined;
};

type Seen = Extract<Sight, { kind: 'seen' }>;

/** One node of a pool, with its memory between polls. */
export type Member = {
  readonly endpoint: RpcEndpoint;
  readonly provider: JsonRpcApiProvider;
  readonly track: Track;
  judgement: NodeJudgement;
  since: Date;
  /** The last poll that showed a chain of the network. */
  seen: Seen | undefined;
  /** When that was, by the monotonic clock. */
  seenAt: number;
  /** Why its chain contradicts what is final. */
  forked: string | undefined;
  /** When it last did not answer a request, or lacked what another node may have; by the monotonic clock. */
  avoidedAt: number | undefined;
  /** The poll in flight, which others join. */
  looking: Promise<Sight> | undefined;
  /** Hashes of blocks on its chain, valid as long as its newest block stays the same. */
  hashes: { readonly head: string; readonly at: Map<bigint, Promise<string | undefined>> };
};

export function createMember(endpoint: RpcEndpoint, provider: JsonRpcApiProvider): Member {
  return {
    endpoint,
    provider,
    track: { behind: undefined, head: undefined },
    judgement: { state: 'unknown', reason: '' },
    since: new Date(),
    seen: undefined,
    seenAt: 0,
    forked: undefined,
    avoidedAt: undefined,
    looking: undefined,
    hashes: { head: '', at: new Map() },
  };
}

/**
 * Polls a node; a poll that is in flight already is joined.
 * @param now the monotonic clock in milliseconds
 */
export function lookAt(member: Member, now: number): Promise<Sight> {
  const look = async () => {
    const sight = await member.endpoint.look();
    if (sight.kind === 'seen') {
      member.seen = sight;
      member.seenAt = now;
    }
    return sight;
  };
  member.looking ??= look().finally(() => {
    member.looking = undefined;
  });
  return member.looking;
}

/** The hash of a block on the node's chain; undefined when it does not have the block, or does not answer. */
export function hashAt(member: Member, number: bigint): Promise<string | undefined> {
  const head = member.seen?.head;
  if (head === undefined || number > head.number) return Promise.resolve(undefined);
  if (number === head.number) return Promise.resolve(head.hash);
  if (member.hashes.head !== head.hash) member.hashes = { head: head.hash, at: new Map() };
  const { at } = member.hashes;
  const ask = async () => {
    const block = await member.endpoint.block(number).catch(() => null);
    // Asked again at the next poll.
    if (block === null) at.delete(number);
    return block?.hash;
  };
  const known = at.get(number) ?? ask();
  at.set(number, known);
  return known;
}

type JudgeOptions = {
  readonly chainId: string;
  readonly around: NodeSurroundings;
  readonly log: Logger;
};

/** @param sight undefined when the node was left alone at this poll */
export function judgeMember(
  member: Member,
  sight: Sight | undefined,
  { chainId, around, log }: JudgeOptions,
): void {
  const judged = sight === undefined ? judgeRest(member) : judgeSight(member, sight, chainId, around);
  setJudgement(member, judged, log);
}

function judgeSight(member: Member, sight: Sight, chainId: string, around: NodeSurroundings): NodeJudgement {
  // It was not asked.
  if (sight.kind === 'failed' && sight.fault.reason === 'busy') return member.judgement;
  if (sight.kind !== 'seen') return judgeAbsent(sight, chainId);
  const judged = judgeHead(member.track, sight.head, around);
  if (member.forked === undefined || !isInUse(judged.state)) return judged;
  return { state: 'forked', reason: member.forked };
}

/** The judgement of a node that was left alone keeps its reason. */
function judgeRest({ judgement }: Member): NodeJudgement {
  const isExplained = !isInUse(judgement.state) && judgement.state !== 'unknown';
  return isExplained ? judgement : { state: 'failing', reason: 'it failed and is left alone for a while' };
}

/** Replaces the judgement; says so when it is another state. Failures are logged where they happen. */
export function setJudgement(member: Member, judgement: NodeJudgement, log: Logger): void {
  const before = member.judgement;
  member.judgement = judgement;
  if (before.state === judgement.state) return;
  member.since = new Date();
  const node = { url: member.endpoint.label, ...judgement };
  if (judgement.state === 'usable' && !['unknown', 'failing'].includes(before.state)) {
    log.info(node, 'node can be used again');
  } else if (judgement.state === 'standing') {
    // No fault of the node: a network where nothing happens may make no blocks. Mints that wait for one say so themselves.
    log.info(node, 'node shows no new block');
  } else if (!['usable', 'failing'].includes(judgement.state)) {
    log.warn(node, 'node is not as it should be');
  }
}

export const statusOf = (member: Member): NodeStatus => ({
  node: member.endpoint.label,
  ...member.judgement,
  since: member.since,
  head: member.seen?.head,
  finalized: typeof member.seen?.finalized === 'bigint' ? member.seen.finalized : undefined,
});
