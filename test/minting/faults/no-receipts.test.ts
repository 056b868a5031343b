import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { of, resultOf } from '../../support/node/flaw.ts';
import { without } from '../../support/node/limits.ts';
import { malformedReceipts } from '../../support/node/wrongs.ts';
import { compileContracts } from '../../support/solidity.ts';
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

describe('a node whose receipts name blocks that were replaced', () => {
  const stale = of(['eth_getTransactionReceipt'], async (call, pass) => {
    const receipt = resultOf(await pass(call));
    return { result: receipt && { ...receipt, blockHash: `0x${'ab'.repeat(32)}` } };
  });

  test('proves a mint by its event once that is final', async () => {
    const { node, service } = setup;
    node.setFlaws(stale);
    const ids = await setup.accept(3);
    setup.work();
    const mining = setup.keepMining();
    await untilAll(service, ids, 'minted', 30);
    mining.stop();
    expect(await service.db('mint_notes')).toEqual([]);
    node.setFlaws();
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('proves nothing where no event does: that is the reason', async () => {
    const { chain, node, service } = setup;
    const code = await chain.call('eth_getCode', chain.contract, 'latest');
    const idle = await deploy(chain.rpcUrl, (await compileContracts())['Idle']);
    await chain.call('anvil_setCode', chain.contract, await chain.call('eth_getCode', idle, 'latest'));
    await chain.mine(5);
    node.setFlaws(stale);
    const ids = await setup.accept(2);
    setup.work();
    const mining = setup.keepMining();
    const reasons = () => service.db('mint_notes').distinct().pluck('reason');
    await until('the reason', async () => (await reasons()).join() === 'evidence_unavailable', 30);
    const [note] = await service.db('mint_notes');
    expect(note.detail).toContain('a receipt of a block that is not in its chain');
    await chain.call('anvil_setCode', chain.contract, code);
    node.setFlaws();
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });
});

describe('behind a foreign nonce, what waits for a transaction without a receipt that can be read', () => {
  /** Sends a transaction of ours, then one by somebody else who has the key. */
  async function useKeyElsewhere(): Promise<void> {
    const { chain, node, service, signers } = setup;
    node.setFlaws(malformedReceipts({ status: 'ok', logs: null }));
    await until('a transaction', async () => (await service.db('mint_transactions')).length > 0);
    await chain.mine();
    const count = await chain.call<string>('eth_getTransactionCount', signers[0], 'latest');
    await chain.call('anvil_setNonce', signers[0], `0x${(BigInt(count) + 1n).toString(16)}`);
  }
  const pause = async () => (await setup.service.db('mint_lanes').first()).pause_reason;

  test('names the node, not the foreign nonce', async () => {
    const { node, service } = setup;
    const first = await setup.accept(1);
    setup.work();
    await useKeyElsewhere();
    const second = await setup.accept(1);
    const mining = setup.keepMining();
    await until('the reason', async () => (await pause()) === 'evidence_unavailable');
    const lane = await service.db('mint_lanes').first();
    expect(lane.pause_detail).toContain('The node does not answer');
    mining.stop();
    node.setFlaws();
    expect(await setup.settle([...first, ...second])).toEqual([]);
  });
});
