import { createLogger } from '../../src/base/log.ts';
import type { Network } from '../../src/chain/rpc/client/network.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { createNetworkIndex } from '../../src/providers/indexer/network-index.ts';
import type { TraceMethod } from '../../src/providers/indexer/store/write/index-state-store.ts';
import type { TestDatabase } from './database.ts';
import { testNetwork } from './networks.ts';

/** Indexes the network 31337 up to the newest block of its chain, including names and symbols of tokens. */
export async function indexChain(
  { db }: Pick<TestDatabase, 'db'>,
  rpcUrl: string,
  traceMethod: TraceMethod = 'none',
  changes: Partial<Network> = {},
): Promise<void> {
  const log = createLogger({ level: 'silent' });
  const clients = createRpcClients({ timeoutMs: 5_000, log });
  const network = testNetwork([rpcUrl], changes);
  const settings = { startBlock: 0n, traceMethod, parallel: 4, pollMs: 10, timeoutMs: 5_000 };
  const { createFollower, filler } = createNetworkIndex({ network, settings, db, clients, log });
  const follower = createFollower();
  while ((await follower.step()) !== 'idle');
  while (await filler.fill());
  clients.close();
}
