import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { isMintContract } from '../../src/rwa/mint-worker/stores/queued-nft-store.ts';
import { listContracts } from '../../src/rwa/minting/compare/compared-contract-store.ts';
import { countRwasOf, listUsedContracts } from '../../src/rwa/minting/contract-verdict-store.ts';
import { endRecovery } from '../../src/rwa/operators/remedies/recover-store.ts';
import { addCompany, addNetwork, contractAddress } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { rowsReadBy } from '../support/statements.ts';

const chainId = '31337';
const claimedOnly = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const archivedOnly = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const small = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

// 10,000 RWAs of one contract, the older half of them archived, and a few of others, on two networks; made in no order of their ids.
test.beforeAll(async ({ db }) => {
  for (const each of [chainId, '1']) await addNetwork(db, each);
  await addCompany(db, 'acme');
  const insert = (count: number, row: object, isClaimable: string, archived: string) =>
    db.raw(
      `INSERT INTO rwas (number, company_id, name, type, chain_id, contract_address, is_claimable, archived_at, created_at)
       SELECT new_rwa_number(now() + n * interval '1 millisecond'), 'acme', 'rwa', 'cask', :chain, :contract, ${isClaimable}, ${archived},
         timestamptz '2026-01-01' + n / 2 * interval '1 minute'
       FROM generate_series(1, :count::int) n`,
      { count, ...row },
    );
  const some = 'CASE WHEN n < 5000 THEN now() END';
  await insert(10_000, { chain: chainId, contract: contractAddress }, 'false', some);
  await insert(3, { chain: chainId, contract: small }, 'n > 1', 'NULL');
  await insert(2, { chain: chainId, contract: archivedOnly }, 'true', 'now()');
  await insert(2, { chain: '1', contract: contractAddress }, 'true', 'NULL');
  const [{ id } = { id: '' }] = await db('deployment').select('id');
  await db('mint_contracts').insert({ chain_id: chainId, contract: claimedOnly, deployment_id: id });
  await db.raw('VACUUM ANALYZE rwas');
});

const readBy = (db: Database, work: () => Promise<unknown>) => rowsReadBy(db, 'rwas', work);

describe('the contracts that RWAs name', () => {
  test('are listed of a network, with claimed ones, by reading one row for each', async ({ db }) => {
    const { rows } = await db.raw(
      `SELECT contract_address AS contract FROM rwas WHERE chain_id = ?
       UNION SELECT contract FROM mint_contracts WHERE chain_id = ? ORDER BY 1`,
      [chainId, chainId],
    );
    const list = () => listContracts(db, chainId);
    expect(await list()).toEqual(rows.map(({ contract }: { contract: string }) => contract));
    expect((await list()).toSorted()).toEqual([contractAddress, claimedOnly, archivedOnly, small].toSorted());
    expect(await listContracts(db, '77')).toEqual([]);
    expect(await readBy(db, list)).toBeLessThan(10);
  });

  test('are listed for doctor with their oldest RWA, by reading a few rows for each', async ({ db }) => {
    const { rows } = await db.raw(
      `SELECT chain_id AS "chainId", contract_address AS contract, bool_or(is_claimable) AS "isClaimable",
         (array_agg(id ORDER BY created_at, id))[1] AS "firstRwa", count(*)::int AS count
       FROM rwas WHERE archived_at IS NULL GROUP BY 1, 2 ORDER BY 1, 2`,
    );
    const found = await listUsedContracts(db);
    const counted = await Promise.all(
      found.map(async (each) => ({ ...each, count: await countRwasOf(db, each) })),
    );
    expect(counted).toEqual(rows);
    expect(found).toHaveLength(3);
    expect(await readBy(db, () => listUsedContracts(db))).toBeLessThan(20);
  });

  test('are known to a signer by one row', async ({ db }) => {
    expect(await isMintContract(db, chainId, small)).toBe(true);
    expect(await isMintContract(db, '1', small)).toBe(false);
    await db('networks').where({ chain_id: '1' }).update({ minter_contract: small });
    expect(await isMintContract(db, '1', small)).toBe(true);
    for (const contract of [contractAddress, claimedOnly])
      expect(await readBy(db, () => isMintContract(db, chainId, contract))).toBeLessThan(2);
  });

  test('are all this deployment’s after a recovery', async ({ db }) => {
    // The final block of each RWA is compared once. A recovery is rare, so no index is kept for it.
    const rwas = await db('rwas').pluck('id');
    expect(await readBy(db, () => endRecovery(db, chainId, 7n))).toBeLessThan(rwas.length + 10);
    const known = await db('mint_contracts').where({ chain_id: chainId, recovered_to: 7 }).pluck('contract');
    expect(known.toSorted()).toEqual([contractAddress, archivedOnly, small].toSorted());
  });
});
