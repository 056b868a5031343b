import type { JsonRpcApiProvider } from 'ethers';
import type { Logger } from '../../../base/log.ts';
import type { Outgoing } from '../../../outgoing/outgoing.ts';
import { createFailover } from '../pool/failover.ts';
import { createMember, type Member, type NodeStatus } from '../pool/node-member.ts';
import { createNodePool, type NodePool } from '../pool/node-pool.ts';
import { createSingleNode } from '../pool/pinned-node.ts';
import { createRpcEndpoint, type RpcEndpoint } from '../transport/endpoint.ts';
import { NodeFault } from '../transport/node-fault.ts';
import type { Network } from './network.ts';
import { NetworkProvider } from './network-provider.ts';
import { showAddress } from './node-address.ts';
import { createQuestionTurns, type QuestionTurns } from './question-turns.ts';

/** The connections to the nodes of one network. */
export type NetworkClient = {
  /** Asks the nodes in turn until one answers. */
  readonly provider: JsonRpcApiProvider;
  /** The same, beginning with each of the other nodes. */
  readonly others: readonly JsonRpcApiProvider[];
  /** The same nodes one by one. */
  readonly pool: NodePool;
  close(): void;
};

/** Called with the outcome of each request to a node. The node's URL has its secret parts removed. */
type OnOutcome = (node: string, outcome: string) => void;

export type NetworkClientOptions = {
  /** Why addresses among the RPC URLs could not be read. */
  readonly unread: ReadonlyMap<string, string>;
  readonly timeoutMs: number;
  readonly outgoing: Outgoing;
  readonly log: Logger;
  readonly onOutcome: OnOutcome;
  readonly onState: (status: NodeStatus) => void;
  readonly finalityNodes: number | undefined;
  readonly now: () => number;
};

export function createNetworkClient(network: Network, options: NetworkClientOptions): NetworkClient {
  const { chainId } = network;
  const { finalityNodes, log, now, onState } = options;
  const labels = labelsOf(network.rpcUrls);
  const inTurn = createQuestionTurns({ waitMs: options.timeoutMs });
  const members = network.rpcUrls.map((url, index) =>
    openMember(network, { url, label: labels[index] ?? '', inTurn }, options),
  );
  const pool = createNodePool({
    chainId,
    members,
    finalityNodes,
    log,
    now,
    onState,
    timeoutMs: options.timeoutMs,
  });
  const memberOf = new Map(members.map((member) => [member.endpoint, member]));
  const isSound = (endpoint: RpcEndpoint) => {
    const member = memberOf.get(endpoint);
    return member === undefined || pool.isSound(member);
  };
  const preference = { isSound, refresh: pool.refresh, doubted: ofState };
  const endpoints = [...memberOf.keys()];
  const beginningAt = (place: number) => {
    const fromThere = [...endpoints.slice(place), ...endpoints.slice(0, place)];
    return new NetworkProvider(network, inTurn(createFailover(chainId, fromThere, preference)));
  };
  const provider = beginningAt(0);
  const others = endpoints.slice(1).map((_, place) => beginningAt(place + 1));
  return {
    provider,
    others,
    pool,
    close() {
      for (const each of [provider, ...others]) each.destroy();
      for (const member of members) {
        member.provider.destroy();
        member.endpoint.close();
      }
    },
  };
}

// A balance of another chain has the same form as ours. Blocks name their parents.
const ofState: ReadonlySet<string> = new Set(['eth_getBalance', 'eth_call']);

/** The form of the URLs that people see. Nodes that differ only in a hidden part get a number. */
function labelsOf(urls: readonly string[]): string[] {
  const redacted = urls.map(showAddress);
  return redacted.map((label, index) => {
    const earlier = redacted.slice(0, index).filter((other) => other === label).length;
    return earlier === 0 ? label : `${label} (${earlier + 1})`;
  });
}

type NodeUrl = { readonly url: string; readonly label: string; readonly inTurn: QuestionTurns };

function openMember(
  network: Network,
  { url, label, inTurn }: NodeUrl,
  options: NetworkClientOptions,
): Member {
  const { timeoutMs, outgoing, log, now, onOutcome } = options;
  const unread = options.unread.get(url);
  const { chainId } = network;
  const opened = createRpcEndpoint({ url, label, unread, chainId, timeoutMs, outgoing, log, now });
  const endpoint = observed(opened, onOutcome);
  const ask = createSingleNode(chainId, endpoint, () => {
    member.avoidedAt = now();
  });
  const member: Member = createMember(endpoint, new NetworkProvider(network, inTurn(ask)));
  return member;
}

const outcomes = {
  answer: 'answered',
  elsewhere: 'elsewhere',
  refused: 'elsewhere',
  limited: 'limited',
} as const;

/** The endpoint, reporting the outcome of each request; a poll counts as one. */
function observed(endpoint: RpcEndpoint, tell: OnOutcome): RpcEndpoint {
  return {
    ...endpoint,
    async ask(...question) {
      try {
        const judged = await endpoint.ask(...question);
        tell(endpoint.label, outcomes[judged.verdict]);
        return judged;
      } catch (error) {
        tell(endpoint.label, error instanceof NodeFault ? error.reason : 'oversized');
        throw error;
      }
    },
    async look() {
      const sight = await endpoint.look();
      const outcome = { seen: 'answered', foreign: 'wrong_chain', failed: 'failed' }[sight.kind];
      tell(endpoint.label, sight.kind === 'failed' ? sight.fault.reason : outcome);
      return sight;
    },
  };
}
