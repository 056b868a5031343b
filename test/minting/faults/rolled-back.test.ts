import { afterEach, beforeEach, expect, test } from 'vitest';
import { assertNoLaneNeedsHelp } from '../../../src/rwa/minting/lane-status-store.ts';
import { until, untilAll } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const lane = () => setup.service.db('mint_lanes').first();
const states = async () =>
  (await setup.service.db('mint_transactions').orderBy('nonce')).map(({ state }) => state);

test('a chain that has lost final blocks pauses its network; a recovery sends again what it lost', async () => {
  const { chain, service } = setup;
  setup.work();
  const ids = await setup.accept(3);
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted');
  await until('finality', async () => (await states()).every((state) => state === 'finalized'));
  // One more poll, which stores what is final.
  const more = await setup.accept(1);
  await untilAll(service, more, 'minted');
  mining.stop();
  await chain.mine(5);
  await until('finality', async () => (await states()).every((state) => state === 'finalized'));
  const { number, hash } = await service.db('network_finality').first();
  const first = Math.min(...(await service.db('nfts').pluck('minted_block')).map(Number));
  const head = Number(await chain.call<string>('eth_blockNumber'));
  await chain.call('anvil_reorg', head - first + 1, []);
  expect((await chain.mints()).size).toBe(0);

  const later = await setup.accept(1);
  await until('the pause', async () => (await lane()).pause_reason === 'chain_rolled_back');
  const { pause_detail: detail } = await lane();
  const present = await chain.call<{ hash: string }>(
    'eth_getBlockByNumber',
    `0x${Number(number).toString(16)}`,
    false,
  );
  expect(detail).toContain(hash);
  expect(detail).toContain(present.hash);
  await expect(assertNoLaneNeedsHelp(service.db)).rejects.toThrow('chain_rolled_back');
  expect((await chain.mints()).size).toBe(0);

  const raw = await service.db('mint_attempts').pluck('hash');
  // As of an RWA that was made now.
  await service.db('rwas').update({ final_block: number });
  const dry = await setup.cli.json('recover');
  const applied = await setup.cli.json('recover', '--apply');
  expect(applied).toMatchObject({ status: 0, value: { waiting: 0 } });
  const { found, wouldFix, left } = dry.value;
  expect({ found, fixed: wouldFix, left }).toEqual({
    found: applied.value.found,
    fixed: applied.value.fixed,
    left: applied.value.left,
  });
  expect((await service.db('rwas').first()).final_block).toBe('0');
  expect(await setup.settle([...ids, ...more, ...later])).toEqual([]);
  // By the stored bytes.
  const sent = [...(await chain.mints()).values()].flat().map((mint) => mint.hash);
  expect(sent.filter((each) => raw.includes(each)).length).toBeGreaterThanOrEqual(ids.length + more.length);
});
