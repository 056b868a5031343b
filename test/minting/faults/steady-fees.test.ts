import { afterEach, beforeEach, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { startNode, type TestNode } from '../../support/node/node.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
let node: TestNode;
beforeEach(async () => {
  setup = await createMintSetup();
  node = await startNode(setup.chain.rpcUrl);
  await setup.service.db('networks').update({ rpc_urls: [node.url] });
  await baseFee(gwei);
  await setup.chain.mine();
  await setup.chain.call('evm_setAutomine', false);
});
afterEach(async () => {
  await setup.close();
  await node.close();
});

const gwei = 1_000_000_000n;
const attempts = () => setup.service.db('mint_attempts').orderBy('created_at');
const baseFee = (fee: bigint) => setup.chain.call('anvil_setNextBlockBaseFeePerGas', `0x${fee.toString(16)}`);

const raises = async () =>
  (await attempts()).filter(({ number }) => number > 1).map((each) => each.max_fee_per_gas);

/** Blocks at this price, each of which the worker looks at. */
async function mineBlocks(count: number, fee: bigint): Promise<void> {
  for (let block = 0; block < count; block += 1) {
    await baseFee(fee);
    await setup.chain.mine();
    const looks = node.count('eth_getTransactionCount');
    await until('a look', async () => node.count('eth_getTransactionCount') > looks);
  }
}

test('fees stay as they are while the signer lacks funds, for however many blocks', async () => {
  const { chain, service, signers } = setup;
  const ids = await setup.accept(2);
  setup.work(undefined, { MINT_STUCK_BLOCKS: '1' });
  await untilAll(service, ids, 'submitted');
  await chain.call('anvil_setBalance', signers[0], '0x1');
  await chain.call('anvil_dropAllTransactions');
  await mineBlocks(15, gwei);
  expect(await raises()).toEqual([]);
  const pauseOf = async () => (await service.db('mint_lanes').first()).pause_reason;
  await until('the reason', async () => (await pauseOf()) === 'balance_too_low');
  await chain.call('anvil_setBalance', signers[0], '0x56bc75e2d63100000');
  const mining = setup.keepMining();
  await until('its end', async () => (await pauseOf()) === null);
  mining.stop();
  expect(await setup.settle(ids)).toEqual([]);
});

test('after a spike transactions are offered at the present price, and a raise was within a quarter of the market', async () => {
  const { chain, service } = setup;
  const ids = await setup.accept(2);
  setup.work(undefined, { MINT_STUCK_BLOCKS: '1' });
  await untilAll(service, ids, 'submitted');
  await chain.call('anvil_dropAllTransactions');
  await mineBlocks(4, 50n * gwei);
  const raised = (await attempts()).filter(({ number }) => number > 1);
  expect(raised.length).toBeGreaterThan(0);
  const suggested = BigInt(await chain.call<string>('eth_maxPriorityFeePerGas'));
  const highest = ((2n * 50n * gwei + suggested) * 5n) / 4n;
  expect(raised.filter((each) => BigInt(each.max_fee_per_gas) > highest)).toEqual([]);

  // With nothing in flight the lane looks anew when the next mint is accepted.
  await until('finality', async () => {
    await baseFee(gwei);
    await chain.mine();
    return (await service.db('mint_transactions').whereNot('state', 'finalized')).length === 0;
  });
  const more = await setup.accept(2);
  await untilAll(service, more, 'submitted');
  const offered = await service
    .db('mint_attempts as a')
    .join('mint_transaction_nfts as l', 'l.transaction_id', 'a.transaction_id')
    .whereIn('l.nft_id', more);
  for (const each of offered) {
    expect(BigInt(each.max_fee_per_gas)).toBeLessThanOrEqual(((2n * gwei + suggested) * 5n) / 4n);
  }
  expect(await setup.settle([...ids, ...more])).toEqual([]);
});
