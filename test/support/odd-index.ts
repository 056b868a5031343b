import { expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { insertNetwork } from '../../src/chain/network-store.ts';
import type { Network } from '../../src/chain/rpc/client/network.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { createNetworkIndex } from '../../src/providers/indexer/network-index.ts';
import { createAccountStates } from '../../src/providers/indexer/verification/account-states.ts';
import { createTransferChecker } from '../../src/providers/indexer/verification/transfer-checker.ts';
import { closing } from './closing.ts';
import { testNetwork } from './networks.ts';
import { hexOf, type OddChain, startOddNode } from './odd-chain.ts';
import type { TestService } from './service.ts';
import { waitFor } from './wait-for.ts';

const log = createLogger({ level: 'silent' });
let lastChainId = 700_000;

/**
 * Registers a network whose nodes have these chains until the end of the test.
 * @returns its index, and requests to the service about it
 */
export async function startOddIndex(
  service: TestService,
  chains: readonly OddChain[],
  settings: Partial<Network> = {},
) {
  lastChainId += 1;
  const chainId = String(lastChainId);
  const nodes = await Promise.all(chains.map(async (chain) => closing(await startOddNode(chainId, chain))));
  const network = testNetwork(
    nodes.map(({ url }) => url),
    { chainId, hexChainId: hexOf(lastChainId), name: `Odd ${chainId}`, ...settings },
  );
  await insertNetwork(service.db, network);
  await waitFor(async () => expect(await service.parts.networks.find(chainId)).toBeDefined());
  const clients = closing(createRpcClients({ timeoutMs: 5_000, log }));
  const index = createNetworkIndex({
    network,
    settings: {
      startBlock: BigInt(network.indexFrom),
      traceMethod: network.indexTraces,
      parallel: 4,
      pollMs: 10,
      timeoutMs: 5_000,
    },
    db: service.db,
    clients,
    log,
  });
  const follower = index.createFollower();
  const client = service.as(service.keys.noCompany);
  return {
    nodes,
    clients,
    network,
    index,
    follower,
    async follow() {
      while ((await follower.step()) !== 'idle');
    },
    /** Reads the texts of tokens, and checks what nobody signed. */
    async fill() {
      while (await index.filler.fill());
      const states = createAccountStates(clients.for(network));
      const check = createTransferChecker({ chainId, db: service.db, states, log });
      while (await check());
    },
    get: (path: string, query: Record<string, string>) =>
      client.get(`/blockchain/v1/api/${path}?${new URLSearchParams({ ...query, chainId })}`),
  };
}
