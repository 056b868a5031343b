import type { JsonRpcApiProvider } from 'ethers';
import type { Logger } from '../../log.ts';
import type { Network } from '../network.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import { createFailover } from './failover.ts';
import { NetworkProvider } from './network-provider.ts';
import { NodeFault } from './node-fault.ts';

export type RpcClients = {
  /** The client of a network; the same one until the network's RPC URLs change. */
  for(network: Network): JsonRpcApiProvider;
  /** Closes every connection; calls in progress fail. */
  close(): void;
};

/** Called with the outcome of each request to a node. The node's URL has its secret parts removed. */
export type OnAnswer = (chainId: string, node: string, outcome: string) => void;

type RpcClientsOptions = {
  /** Timeout of every single request to a node, up to the last byte of its answer. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly onAnswer?: OnAnswer;
  /** A monotonic clock in milliseconds, for the pauses of unhealthy nodes. */
  readonly now?: () => number;
};

type Client = { readonly urls: string; readonly provider: JsonRpcApiProvider; close(): void };

/** One JSON-RPC client per network, created at its first use, with failover between the network's URLs. */
export function createRpcClients({
  timeoutMs,
  log,
  onAnswer = () => {},
  now = () => performance.now(),
}: RpcClientsOptions): RpcClients {
  const clients = new Map<string, Client>();
  const retired = new Map<Client, NodeJS.Timeout>();

  const open = (network: Network, urls: string): Client => {
    const { chainId } = network;
    const tell = onAnswer.bind(undefined, chainId);
    const endpoints = network.rpcUrls.map((url) =>
      observed(createEndpoint({ url, chainId, timeoutMs, log, now }), tell),
    );
    const provider = new NetworkProvider(network, createFailover(chainId, endpoints));
    const close = () => {
      provider.destroy();
      for (const endpoint of endpoints) endpoint.close();
    };
    return { urls, provider, close };
  };

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

  return {
    for(network) {
      const urls = JSON.stringify(network.rpcUrls);
      const present = clients.get(network.chainId);
      if (present?.urls === urls) return present.provider;
      if (present !== undefined) retire(present, network.rpcUrls.length);
      const client = open(network, urls);
      clients.set(network.chainId, client);
      return client.provider;
    },
    close() {
      for (const timer of retired.values()) clearTimeout(timer);
      for (const client of [...clients.values(), ...retired.keys()]) client.close();
      clients.clear();
      retired.clear();
    },
  };
}

/** The endpoint, reporting the outcome of each request. */
function observed(endpoint: Endpoint, tell: (node: string, outcome: string) => void): Endpoint {
  return {
    ...endpoint,
    async ask(method, params) {
      try {
        const judged = await endpoint.ask(method, params);
        tell(endpoint.label, outcomes[judged.verdict]);
        return judged;
      } catch (error) {
        tell(endpoint.label, error instanceof NodeFault ? error.reason : 'oversized');
        throw error;
      }
    },
  };
}

const outcomes = { answer: 'answered', elsewhere: 'elsewhere', fault: 'refused' } as const;
