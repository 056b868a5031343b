import { afterEach, beforeEach } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createRpcClients, type RpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { testNetwork } from '../support/networks.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { bareChain } from '../support/node/transport-flaws.ts';

/** The nodes of a network before each test of a file, in the order in which they are asked. */
export let first: TestNode;
export let second: TestNode;
export let clients: RpcClients;

/** Called by each file that uses them: files share modules, so that hooks of this one would be those of its first reader. */
export function useTwoNodes(): void {
  beforeEach(async () => {
    [first, second] = await Promise.all([startNode(bareChain(31_337n)), startNode(bareChain(31_337n))]);
    // By the clock nothing happens: no node is looked at in the background, whatever the tests of a file take.
    const now = () => 0;
    clients = createRpcClients({ timeoutMs: 120_000, now, log: createLogger({ level: 'silent' }) });
  });
  afterEach(async () => {
    clients.close();
    await Promise.all([first.close(), second.close()]);
  });
}

/** What a node was asked but its chain. */
export const askedOf = ({ asked }: TestNode) => asked.filter(({ method }) => method !== 'eth_chainId');

/** Asks the network that has both. */
export const both = () => clients.for(testNetwork([first.url, second.url]));
