import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { failure } from '../../support/node/flaw.ts';
import { prunedBefore, rangesOf } from '../../support/node/limits.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

// Words that no list of words has.
const limited = rangesOf(10n, failure(-32000, 'nicht so viele auf einmal'));

let setup: MintSetup;
let head: bigint;
beforeEach(async () => {
  setup = await createMintSetup({ nodes: [[limited]] });
  const { chain, service } = setup;
  await chain.call('anvil_mine', '0x200');
  await chain.call('evm_setAutomine', false);
  // As if its assets had been there before the first block.
  await service.db('rwas').update({ created_at: new Date(0) });
  head = BigInt(await chain.call<string>('eth_blockNumber'));
});
afterEach(() => setup.close());

const isSearching = () =>
  until('the reason', async () => {
    const row = await setup.service.db('mint_contracts').first();
    return row?.pause_reason === 'history_searched';
  });
const asked = () => setup.node.questions.byMethod().get('eth_getLogs') ?? 0;

describe('a contract, compared with the rows before the first mint on it by a node that gives few blocks at once,', () => {
  test('costs a few questions for each block, and everything is minted once that is through', async () => {
    const ids = await setup.accept(2);
    setup.work();
    await isSearching();
    const polls = setup.node.questions.byMethod().get('eth_chainId') ?? 0;
    await until('more polls', async () => {
      return (setup.node.questions.byMethod().get('eth_chainId') ?? 0) > polls + 20;
    });
    expect(asked()).toBeGreaterThan(0);
    expect(asked()).toBeLessThanOrEqual(10);
    expect(await setup.service.db('mint_transactions')).toEqual([]);
    expect(await setup.settle(ids)).toEqual([]);
    const [row] = await setup.service.db('mint_contracts');
    expect(BigInt(row.compared_to)).toBeGreaterThanOrEqual(head - 5n);
  });

  test('goes on where it was after the worker was told to stop half-way', async () => {
    const ids = await setup.accept(2);
    const worker = setup.work();
    await worker.until(/working/);
    await isSearching();
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    const [row] = await setup.service.db('mint_contracts');
    expect(BigInt(row?.compared_to ?? 0)).toBeLessThan(head - 5n);
    expect(await setup.settle(ids)).toEqual([]);
  });
});

test('a contract is compared by the next node when the first one lacks the past', async () => {
  const { node, service, chain } = setup;
  node.setFlaws(prunedBefore(head));
  await service.db('networks').update({ rpc_urls: [node.url, chain.rpcUrl] });
  const ids = await setup.accept(2);
  setup.work();
  const mining = setup.keepMining();
  // Without its remedy: nobody replaces a node.
  await untilAll(service, ids, 'minted');
  mining.stop();
  expect(await setup.settle(ids)).toEqual([]);
});
