import pLimit from 'p-limit';
import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { startNetworkIndexes } from '../../src/providers/indexer/index-networks.ts';
import { createNetworkIndex } from '../../src/providers/indexer/network-index.ts';
import { findIndexState } from '../../src/providers/indexer/store/write/index-state-store.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import { chainAround, hexOf, startOddNode } from '../support/odd-chain.ts';
import { waitFor } from '../support/wait-for.ts';

const log = createLogger({ level: 'silent' });
const poolMax = 10;
const count = 42;
// Each batch changes `index_state`, which every node of a cluster has. So there, one index writes at a time.
const isCluster = process.env['CITUS_URL'] !== undefined;
const atOnce = isCluster ? 1 : poolMax / 2;
const limits = { statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };

describe('indexes of many networks', () => {
  test('write in turns, so that leases, reads and callers get connections', async ({ database }) => {
    const parties = { payer: `0x${'a1'.repeat(20)}`, payee: `0x${'b2'.repeat(20)}` };
    const chainIds = Array.from({ length: count }, (_, place) => String(900_000 + place));
    const nodes = await Promise.all(
      chainIds.map((chainId) => startOddNode(chainId, { blocks: chainAround({}, parties) })),
    );
    const networks = nodes.map(({ url, chainId }) => ({
      ...testNetwork([url], { chainId, hexChainId: hexOf(BigInt(chainId)), name: chainId }),
      dataProvider: 'indexer' as const,
    }));
    const clients = createRpcClients({ timeoutMs: 5_000, log });
    const db = createDatabase(database.url, { poolMax, log, limits });
    const settings = {
      startBlock: 0n,
      traceMethod: 'none',
      parallel: 4,
      pollMs: 50,
      timeoutMs: 5_000,
    } as const;
    const inTurn = pLimit(poolMax / 2);
    // Whoever writes a history waits.
    const lock = await database.db.transaction();
    await lock.raw('LOCK TABLE wallet_history IN EXCLUSIVE MODE');
    const indexes = startNetworkIndexes({
      networks: { list: async () => networks, onChange: () => () => {} },
      log,
      indexOf: (network) => createNetworkIndex({ network, settings, db, clients, log, inTurn }),
    });
    try {
      const writers = async () => {
        const { rows } = await lock.raw(
          `SELECT count(*)::int AS writers FROM pg_locks WHERE NOT granted AND relation = 'wallet_history'::regclass`,
        );
        return rows[0].writers as number;
      };
      await waitFor(async () => {
        // Every index has read its blocks and wants to write them. In a cluster, most wait before that.
        if (!isCluster) expect(nodes.every((each) => each.count('eth_getBlockReceipts') > 0)).toBe(true);
        expect(await writers()).toBe(atOnce);
      });
      const states = await Promise.all(chainIds.map((chainId) => findIndexState(database.db, chainId)));
      expect(states.map((state) => state?.lastError)).toEqual(Array(count).fill(undefined));
      expect(await writers()).toBe(atOnce);
      await lock.rollback();
      await waitFor(async () => {
        const heads = await Promise.all(chainIds.map((chainId) => findIndexState(db, chainId)));
        expect(heads.map((state) => state?.head?.number)).toEqual(Array(count).fill(4n));
      });
    } finally {
      if (!lock.isCompleted()) await lock.rollback();
      await indexes.stop(5_000);
      clients.close();
      await Promise.all(nodes.map((node) => node.close()));
      await db.destroy();
    }
  });
});
