import { expect } from 'vitest';
import { findCompanyLimits } from '../../src/rwa/operators/company-limit-store.ts';
import { addRwa } from '../rwa/samples.ts';
import { test } from '../support/mint-fixtures.ts';
import { startWorker, until, untilAll } from '../support/minting.ts';
import { of, resultOf } from '../support/node/flaw.ts';
import { startNode } from '../support/node/node.ts';

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
});

test('no receipt makes a mint cost more than was signed, in a row or of a budget', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const spent = async () => {
    const days: string[] = await db('company_gas_days').pluck('wei');
    return days.reduce((sum, wei) => sum + BigInt(wei), 0n);
  };
  const before = await spent();
  const known = await db('mint_transactions').pluck('id');
  const node = await startNode(chain.rpcUrl);
  node.setFlaws(
    of('eth_getTransactionReceipt', async (call, pass) => {
      const reply = await pass(call);
      const found = resultOf(reply);
      const price = { effectiveGasPrice: `0x${'f'.repeat(64)}` };
      return typeof found === 'object' && found !== null ? { result: { ...found, ...price } } : reply;
    }),
  );
  await db('networks').update({ rpc_urls: [node.url] });
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: chain.contract });
  const { body } = await service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
  const worker = await startWorker(service, chain);
  await untilAll(service, [body.nftId], 'submitted');
  const mining = setInterval(() => void chain.mine(), 200);
  const rows = () => db('mint_transactions').whereNotIn('id', known);
  await until('it is final', async () => (await rows()).every(({ state }) => state === 'finalized'));
  clearInterval(mining);
  await worker.stop();
  await node.close();

  const [row] = await rows();
  const [attempt] = await db('mint_attempts').where({ transaction_id: row.id });
  expect(BigInt(row.cost)).toBe(BigInt(row.gas_limit) * BigInt(attempt.max_fee_per_gas));
  expect((await spent()) - before).toBe(BigInt(row.cost));
});
