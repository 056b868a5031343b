import { afterEach, beforeEach, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { of } from '../../support/node/flaw.ts';
import { finalUpTo, without } from '../../support/node/limits.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

test.each([
  ['does not know the method', without('eth_getTransactionReceipt')],
  ['never has one', of(['eth_getTransactionReceipt'], async () => ({ result: null }))],
])('a node without receipts, which %s: the final event of a mint proves it', async (_how, flaw) => {
  const { node, service } = setup;
  node.setFlaws(flaw);
  const ids = await setup.accept(3);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted');
  await until('finality', async () => {
    const open = await service.db('mint_transactions').whereNot('state', 'finalized');
    return open.length === 0;
  });
  expect(await service.db('mint_notes')).toEqual([]);
  mining.stop();
  expect(await setup.settle(ids)).toEqual([]);
});

test('a node without receipts, on a chain that takes long to be final, is no alarm', async () => {
  const { chain, node, service } = setup;
  await chain.mine(5);
  const head = async () => BigInt(await chain.call<string>('eth_blockNumber'));
  const noReceipts = of(['eth_getTransactionReceipt'], () => ({ result: null }));
  node.setFlaws(noReceipts, finalUpTo((await head()) - 2n));
  const ids = await setup.accept(2);
  const worker = setup.work();
  const mining = setup.keepMining(50);
  await untilAll(service, ids, 'submitted');
  const sentAt = await head();
  await until('many more blocks', async () => (await head()) > sentAt + 250n, 30);
  expect(worker.output()).not.toContain('unexplained');
  mining.stop();
  node.setFlaws(noReceipts);
  expect(await setup.settle(ids)).toEqual([]);
});
