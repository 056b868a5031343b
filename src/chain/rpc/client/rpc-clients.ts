import type { JsonRpcApiProvider } from 'ethers';
import type { Logger } from '../../../base/log.ts';
import { errorText } from '../../../base/thrown.ts';
import { createOutgoing, type Outgoing } from '../../../outgoing/outgoing.ts';
import type { NodeStatus } from '../pool/node-member.ts';
import type { NodePool } from '../pool/node-pool.ts';
import type { Network } from './network.ts';
import { createNetworkClient, type NetworkClient } from './network-client.ts';
import { createNodeAddresses, type NodeAddresses } from './node-address.ts';

export type RpcClients = {
  /** The client of a network; the same one until the network's RPC URLs change. */
  for(network: Network): JsonRpcApiProvider;
  /** The same client with another node first, once for each other node. */
  others(network: Network): readonly JsonRpcApiProvider[];
  /** The nodes of a network, each with its judgement. The pool stays the same as long as the client. */
  pool(network: Network): NodePool;
  /** The nodes of every network that was asked, as the last poll has left them. */
  list(): readonly { readonly chainId: string; readonly nodes: readonly NodeStatus[] }[];
  /** Closes every connection; calls in progress fail. */
  close(): void;
};

/** Called with the outcome of each request to a node. The node's URL has its secret parts removed. */
export type OnAnswer = (chainId: string, node: string, outcome: string) => void;

/** Called when what is thought of a node has changed. */
export type OnNodeState = (chainId: string, status: NodeStatus) => void;

type RpcClientsOptions = {
  /** Timeout of every single request to a node, up to the last byte of its answer. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** By what nodes are called; by default something of its own, which nobody else sees. */
  readonly outgoing?: Outgoing;
  /** Opens the addresses of nodes; by default only addresses that are not sealed. */
  readonly addresses?: NodeAddresses;
  readonly onAnswer?: OnAnswer;
  readonly onNodeState?: OnNodeState;
  /** How many nodes of a network must agree on final blocks; by default 1 of one node and 2 of more. */
  readonly finalityNodes?: number | undefined;
  /** A monotonic clock in milliseconds, for the pauses of unhealthy nodes. */
  readonly now?: () => number;
};

type Client = NetworkClient & {
  readonly urls: string;
  readonly unread: ReadonlyMap<string, string>;
  /** When what could not be read is read again. */
  readAgainAt: number;
};

const readAgainMs = 5_000;

/** One JSON-RPC client per network, created at its first use, with failover between the network's URLs. */
export function createRpcClients({
  timeoutMs,
  log,
  addresses = createNodeAddresses(),
  onAnswer = () => {},
  onNodeState = () => {},
  finalityNodes,
  now = () => performance.now(),
  outgoing = createOutgoing({ log, now }),
}: RpcClientsOptions): RpcClients {
  const clients = new Map<string, Client>();
  const retired = new Map<Client, NodeJS.Timeout>();

  // Calls in progress may still try each of the nodes in turn; after that the client is unused.
  const retire = (client: Client, nodes: number) => {
    const timer = setTimeout(
      () => {
        retired.delete(client);
        client.close();
      },
      2 * timeoutMs * nodes,
    );
    retired.set(client, timer.unref());
  };

  const clientOf = (network: Network): Client => {
    const { chainId, rpcUrls } = network;
    const urls = JSON.stringify(rpcUrls);
    const present = clients.get(chainId);
    if (present?.urls === urls && (present.unread.size === 0 || now() < present.readAgainAt)) return present;
    const { opened: reachableUrls, unread } = openEach(rpcUrls, addresses);
    if (present?.urls === urls && present.unread.size === unread.size) {
      present.readAgainAt = now() + readAgainMs;
      return present;
    }
    if (present !== undefined) retire(present, rpcUrls.length);
    const onOutcome = onAnswer.bind(undefined, chainId);
    const onState = onNodeState.bind(undefined, chainId);
    const reachable = { ...network, rpcUrls: reachableUrls };
    const watched = { log, onOutcome, onState, unread };
    const opened = createNetworkClient(reachable, { timeoutMs, outgoing, finalityNodes, now, ...watched });
    const client = { ...opened, urls, unread, readAgainAt: now() + readAgainMs };
    clients.set(chainId, client);
    return client;
  };

  return {
    for: (network) => clientOf(network).provider,
    others: (network) => clientOf(network).others,
    pool: (network) => clientOf(network).pool,
    list: () => [...clients].map(([chainId, { pool }]) => ({ chainId, nodes: pool.status() })),
    close() {
      for (const timer of retired.values()) clearTimeout(timer);
      for (const client of [...clients.values(), ...retired.keys()]) client.close();
      clients.clear();
      retired.clear();
    },
  };
}

/** Opens addresses. One that cannot be read stays as it is, with the reason, and keeps no other node from its network. */
function openEach(stored: readonly string[], addresses: NodeAddresses) {
  const unread = new Map<string, string>();
  const opened = stored.map((address) => {
    try {
      return addresses.open(address);
    } catch (error) {
      unread.set(address, errorText(error));
      return address;
    }
  });
  return { opened, unread };
}
