import { greatest } from '../../../base/bigint.ts';
import type { Logger } from '../../../base/log.ts';
import { currentScope, inBackground, inSharedScope } from '../../../base/request-scope.ts';
import { NodesUnavailableError } from '../transport/node-fault.ts';
import type { Sight } from '../transport/node-look.ts';
import { createNetworkPace } from './network-pace.ts';
import { createConsensus, type FinalityRules, inUse } from './node-consensus.ts';
import { graceMs } from './node-judgement.ts';
import { judgeMember, lookAt, type Member, type NodeStatus, statusOf } from './node-member.ts';
import type { PinnedNode } from './pinned-node.ts';

/** The nodes of one network, judged by concurrent polls. */
export type NodePool = {
  /**
   * Polls all nodes and chooses the node for all questions up to the next poll. A caller during a poll gets its result.
   * @throws NodesUnavailableError when none can be used
   */
  pin(rules: FinalityRules): Promise<PinnedNode>;
  /** Polls all nodes and judges them. */
  look(): Promise<void>;
  /** Polls the nodes without choosing one, when nobody has done so for some seconds. Does not wait. */
  refresh(): void;
  /** False for a node that others are asked before, if there are any. */
  isSound(member: Member): boolean;
  /** The nodes as the last poll has left them. */
  status(): readonly NodeStatus[];
};

type PoolOptions = {
  readonly chainId: string;
  readonly members: readonly Member[];
  /** How many nodes must agree on final blocks; by default 1 of one node and 2 of more. */
  readonly finalityNodes: number | undefined;
  readonly log: Logger;
  /** Called when what is thought of a node has changed. */
  readonly onState: (status: NodeStatus) => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** How long a node may take for one answer. */
  readonly timeoutMs: number;
};

const refreshMs = 5_000;
// A node that takes this many times as long as an answer may take to show a new block shows none: two minutes by default.
const standingTimeouts = 24;
// Another node is pinned for as long, if there is one.
const avoidedMs = 5 * 60_000;

export function createNodePool(options: PoolOptions): NodePool {
  const { chainId, members, finalityNodes, log, now } = options;
  const pace = createNetworkPace(now);
  const needed = finalityNodes ?? Math.min(members.length, 2);
  const consensus = createConsensus({ members, needed, log, now });
  let lookedAt = now();

  const tell = createTeller(options);

  const look = async (): Promise<void> => {
    lookedAt = now();
    const sights = await lookAtAll(members, now());
    const heads = [...sights.values()].flatMap((sight) => (sight.kind === 'seen' ? [sight.head.number] : []));
    if (heads.length > 0) pace.saw(heads.reduce(greatest));
    const leastStandingMs = standingTimeouts * options.timeoutMs;
    const at = { intervalMs: pace.intervalMs(), now: now(), date: new Date(), leastStandingMs };
    for (const member of members) {
      const around = { ...at, best: bestBeside(member, members, at.now) };
      judgeMember(member, sights.get(member), { chainId, around, log });
    }
  };
  const pin = async (rules: FinalityRules): Promise<PinnedNode> => {
    await look();
    const agreed = await consensus.agree(rules);
    tell();
    const member = choose(members, now());
    if (member?.seen === undefined) throw unavailable(chainId, members);
    return {
      ...agreed,
      label: member.endpoint.label,
      provider: member.provider,
      headBlock: member.seen.head.raw,
      finalized: (await consensus.finalOn(member))?.number ?? -1n,
      lasting: await consensus.lastingOn(member),
      standing: member.judgement.state === 'standing' ? member.judgement.reason : undefined,
      broadcasters: broadcasters(members),
      preferOthers() {
        member.avoidedAt = now();
      },
    };
  };

  return {
    pin: shareInFlight(pin),
    look,
    refresh() {
      if (members.length > 1 && now() - lookedAt >= refreshMs) void inBackground(() => look().then(tell));
    },
    isSound: ({ judgement }) => !['lagging', 'forked', 'foreign'].includes(judgement.state),
    status: () => members.map(statusOf),
  };
}

/** Reports the nodes whose state has changed since the last report. */
function createTeller({ members, onState }: PoolOptions): () => void {
  const told = new Map<Member, string>();
  return () => {
    for (const member of members) {
      const { state } = member.judgement;
      if (told.get(member) === state || state === 'unknown') continue;
      told.set(member, state);
      onState(statusOf(member));
    }
  };
}

/**
 * Polls every node in service. Nodes that failed are polled in the background once their pause is over, so that a node
 * that hangs costs a poll its timeout once. When no other node is left, the poll waits for them.
 */
async function lookAtAll(members: readonly Member[], now: number): Promise<Map<Member, Sight>> {
  const sights = new Map<Member, Sight>();
  const inService = members.filter(({ endpoint }) => endpoint.health.healthy());
  const lookAtThese = (those: readonly Member[]) =>
    Promise.all(those.map(async (member) => sights.set(member, await lookAt(member, now))));
  for (const member of members) {
    const isDue = !inService.includes(member) && now >= member.endpoint.health.retryAt();
    if (isDue && inService.length > 0) void lookAt(member, now);
  }
  await lookAtThese(inService);
  const isAnySeen = [...sights.values()].some(({ kind }) => kind === 'seen');
  if (!isAnySeen) await lookAtThese(members.filter((member) => !sights.has(member)));
  return sights;
}

/**
 * The highest block that a node is compared with: its own, and what the others have or had when they were last
 * seen. A node that fails for a moment does not make another node, which stalls, the best.
 */
function bestBeside(member: Member, members: readonly Member[], now: number): bigint {
  const isComparable = (other: Member) =>
    other === member ||
    (!['foreign', 'forked'].includes(other.judgement.state) && now - other.seenAt <= graceMs);
  return members
    .filter(isComparable)
    .map(({ seen }) => seen?.head.number ?? -1n)
    .reduce(greatest, -1n);
}

/** The node that has failed no request lately, or longest ago; of several, the operator's first. */
function choose(members: readonly Member[], now: number): Member | undefined {
  const avoided = ({ avoidedAt }: Member) =>
    avoidedAt !== undefined && now - avoidedAt < avoidedMs ? avoidedAt : -1;
  return inUse(members).sort((one, other) => avoided(one) - avoided(other))[0];
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

/**
 * A caller that comes while the work is under way gets its result. A caller who leaves does not end the work for the
 * others.
 */
function shareInFlight<In, Out>(work: (input: In) => Promise<Out>): (input: In) => Promise<Out> {
  let inFlight: Promise<Out> | undefined;
  return (input) => {
    currentScope()?.onAway?.();
    inFlight ??= inSharedScope({ isOfTenant: false }, () => work(input)).finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };
}
