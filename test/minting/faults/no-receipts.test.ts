import { afterEach, beforeEach, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { of } from '../../support/node/flaw.ts';
import { without } from '../../support/node/limits.ts';
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
