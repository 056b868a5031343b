import { expect } from 'vitest';
import { findCompanyLimits } from '../../src/rwa/operators/company-limit-store.ts';
import { addRwa } from '../rwa/samples.ts';
import { test } from '../support/mint-fixtures.ts';
import { startWorker, untilAll } from '../support/minting.ts';

type Receipt = { gasUsed: string; effectiveGasPrice: string };

test('what mints cost by their receipts is counted to their companies, once', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const ids: string[] = [];
  for (const company of ['acme', 'globex'] as const) {
    const rwa = await addRwa(db, companies[company], { isClaimable: true, contractAddress: chain.contract });
    for (let count = 0; count < 3; count += 1) {
      const { body } = await service
        .as(keys[company])
        .post(`/v1/api/rwa/${rwa.id}/mint`)
        .send({})
        .expect(200);
      ids.push(body.nftId);
    }
  }
  const worker = await startWorker(service, chain);
  await untilAll(service, ids, 'submitted');
  const mining = setInterval(() => void chain.mine(), 200);
  await untilAll(service, ids, 'minted');
  clearInterval(mining);
  await worker.stop();

  const rows = await db('mint_transactions').whereNotNull('mined_hash');
  const costs = await Promise.all(
    rows.map(async ({ mined_hash: hash }) => {
      const receipt = await chain.call<Receipt>('eth_getTransactionReceipt', hash);
      return BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
    }),
  );
  expect(rows.map(({ cost }) => BigInt(cost))).toEqual(costs);
  const counted = await Promise.all(
    [companies.acme, companies.globex].map(async (id) => {
      const { gas } = await findCompanyLimits(db, id);
      return BigInt(gas[0]?.today ?? 0);
    }),
  );
  const total = costs.reduce((sum, cost) => sum + cost, 0n);
  const all = counted.reduce((sum, wei) => sum + wei, 0n);
  // Shares are rounded down to a wei.
  expect(total - all).toBeLessThan(BigInt(2 * rows.length));
  expect(counted.every((wei) => wei > 0n)).toBe(true);
}, 60_000);
