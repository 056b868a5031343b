import { Transaction } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { type Flaw, failure, of } from '../../support/node/flaw.ts';
import { tipFloor, without, withoutPending } from '../../support/node/limits.ts';
import { suggestsTip } from '../../support/node/wrongs.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const gwei = 1_000_000_000n;
const least = 25n * gwei;
const lane = () => setup.service.db('mint_lanes').first();
const attempts = async (): Promise<Transaction[]> =>
  (await setup.service.db('mint_attempts').orderBy('created_at')).map(({ raw }) =>
    Transaction.from(`0x${raw.toString('hex')}`),
  );
/** Mints three NFTs at nodes with these flaws, which stay. */
async function mintWith(...flaws: Flaw[]) {
  setup.node.setFlaws(...flaws);
  const ids = await setup.accept(3);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(setup.service, ids, 'minted', 40);
  mining.stop();
  return ids;
}

/** Names the least tip of the network, in gwei, as the remedy says. */
const setTip = async (tip: string) =>
  expect(await setup.cli.json('network', 'update', '31337', '--min-tip', tip)).toMatchObject({ status: 0 });
const isRefused = (words: string) =>
  until(words, async () => {
    const { pause_reason: reason, pause_detail: detail } = await lane();
    return reason === 'broadcast_refused' && detail.includes(words);
  });

describe('a least tip is paid, though the node suggests nothing and says', () => {
  test('N3: what it has and needs', async () => {
    const say = (tip: bigint) =>
      `transaction gas price below minimum: gas tip cap ${tip}, minimum needed ${least}`;
    const ids = await mintWith(suggestsTip(0n), tipFloor({ least, say }));
    const tips = (await attempts()).map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas);
    expect(tips).toEqual([0n, least]);
    // The figure is remembered.
    const later = await setup.accept(1);
    await untilAll(setup.service, later, 'submitted');
    expect((await attempts()).at(-1)?.maxPriorityFeePerGas).toBe(least);
    expect(await setup.settle([...ids, ...later])).toEqual([]);
  });

  test.each([
    ['N7: words that nobody knows', 'der Knoten mag das nicht', 0],
    ['that it has what it does not have', 'already known', 0],
    [
      'that the price is too low, at the most that is offered without a figure',
      'transaction underpriced',
      25,
    ],
  ])('%s; then the operator sets it', async (_what, words, most) => {
    const { chain, node, service } = setup;
    chain.market.hold(gwei);
    await chain.call('evm_setAutomine', false);
    await chain.mine(3);
    node.setFlaws(suggestsTip(0n), tipFloor({ least, say: () => words }));
    const ids = await setup.accept(3);
    setup.work(undefined, { MINT_STUCK_BLOCKS: '2' });
    const mining = setup.keepMining();
    await isRefused(most === 0 ? words : `${words}. No more is offered`);
    if (most > 0) expect((await lane()).pause_detail).toContain('network update 31337 --min-tip');
    const { length } = await attempts();
    expect(length).toBeLessThanOrEqual(1 + most);
    const given = node.given().length;
    await until('more polls', async () => node.given().length > given + 10);
    expect(await attempts()).toHaveLength(length);
    // Four times the base fee of 1 gwei.
    const tips = (await attempts()).map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas ?? 0n);
    expect(tips.filter((tip) => tip > 3n * gwei)).toEqual([]);
    await setTip('25');
    await untilAll(service, ids, 'minted', 40);
    mining.stop();
    expect((await attempts()).at(-1)?.maxPriorityFeePerGas).toBe(least);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('nothing, because the operator has set the tip for the network', async () => {
    await setup.service.db('networks').update({ min_tip: least.toString() });
    const ids = await mintWith(suggestsTip(0n), tipFloor({ least, say: () => 'transaction underpriced' }));
    expect((await attempts()).filter(({ maxPriorityFeePerGas: tip }) => (tip ?? 0n) !== least)).toEqual([]);
    expect(await setup.settle(ids)).toEqual([]);
  });
});

test('a tip that a node has named keeps no mint waiting where the market alone is below the cap', async () => {
  const { chain, node, service } = setup;
  await chain.call('evm_setAutomine', false);
  chain.market.hold(gwei);
  const say = (tip: bigint) => `gas tip cap ${tip}, minimum needed ${least}`;
  node.setFlaws(suggestsTip(0n), tipFloor({ least, say }));
  const ids = await setup.accept(1);
  setup.work(undefined, { MINT_MAX_FEE_GWEI: '30' });
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted', 40);
  // With the tip, a mint would cost 35 gwei.
  node.setFlaws(suggestsTip(0n));
  chain.market.hold(10n * gwei);
  await chain.mine(2);
  const later = await setup.accept(1);
  await untilAll(service, later, 'minted', 40);
  mining.stop();
  expect((await attempts()).at(-1)?.maxPriorityFeePerGas).toBe(0n);
  expect(await setup.settle([...ids, ...later])).toEqual([]);
});

test('F4: a replacement that is refused is raised again, until the pool takes it', async () => {
  const { chain, node, service } = setup;
  const first: Transaction[] = [];
  /** A pool that has the first transaction, and wants half as much again for another. */
  const wantsHalfAgain = of(['eth_sendRawTransaction'], async (call, pass) => {
    const sent = Transaction.from(String(call.params[0]));
    const [had] = first;
    if (had === undefined) first.push(sent);
    if (had === undefined || sent.hash === had.hash) return { result: sent.hash };
    const isMore = (sent.maxPriorityFeePerGas ?? 0n) * 2n >= (had.maxPriorityFeePerGas ?? 0n) * 3n;
    return isMore ? pass(call) : failure(-32000, 'replacement transaction underpriced');
  });
  await chain.call('evm_setAutomine', false);
  await chain.call('anvil_setNextBlockBaseFeePerGas', `0x${gwei.toString(16)}`);
  await chain.mine();
  node.setFlaws(wantsHalfAgain);
  const ids = await setup.accept(2);
  setup.work(undefined, { MINT_STUCK_BLOCKS: '2' });
  await untilAll(service, ids, 'submitted');
  // The market asks for more than was offered.
  chain.market.hold(20n * gwei);
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted', 40);
  mining.stop();
  expect((await attempts()).length).toBeGreaterThan(2);
  expect(await setup.settle(ids)).toEqual([]);
});

test('words that name no price cost an eighth for each ten minutes that they last, while blocks are made', async () => {
  const { chain, node, service } = setup;
  chain.market.hold(gwei);
  await chain.call('evm_setAutomine', false);
  await chain.mine(3);
  // An eighth above the base fee and tip of 1 gwei each.
  const floor = (5n * gwei) / 4n;
  node.setFlaws(suggestsTip(gwei), tipFloor({ least: floor, say: () => 'nein' }));
  const ids = await setup.accept(2);
  // Ten minutes of 600 polls.
  setup.work(undefined, { MINT_STUCK_BLOCKS: '5' }, { mintPollMs: 5 });
  const mining = setup.keepMining(50);
  await untilAll(service, ids, 'minted', 40);
  mining.stop();
  expect((await attempts()).map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas)).toEqual([gwei, floor]);
  expect(await setup.settle(ids)).toEqual([]);
});

describe('a transaction that nodes reject while its nonce is not the next', () => {
  test.each(['transaction underpriced', `tip needed ${least}`, 'oversized data'])(
    'stays as it is: %s',
    async (words) => {
      const { chain, node, service } = setup;
      await chain.call('evm_setAutomine', false);
      chain.market.hold(gwei);
      await chain.mine(3);
      node.setFlaws(
        of('eth_sendRawTransaction', ({ params: [raw] }) =>
          Transaction.from(String(raw)).nonce === 1 ? failure(-32000, words) : undefined,
        ),
      );
      // Of 30 million: room for five.
      const ids = await setup.accept(8);
      setup.work(undefined, { MINT_BLOCK_SHARE_PERCENT: '1' }, { mintRebroadcastMs: 60_000 });
      await isRefused(words);
      const given = node.given().length;
      await until('more polls', async () => node.given().length > given + 2, 30);
      expect((await attempts()).map(({ nonce }) => nonce)).toEqual([0, 1]);
      node.setFlaws();
      const mining = setup.keepMining();
      await untilAll(service, ids, 'minted', 40);
      mining.stop();
      expect(await attempts()).toHaveLength(2);
      expect(await setup.settle(ids)).toEqual([]);
    },
  );
});

test('N4: where gas is free, everything is minted for nothing', async () => {
  const { chain } = setup;
  await chain.call('evm_setAutomine', false);
  chain.market.hold(0n);
  await chain.mine(3);
  const ids = await mintWith(suggestsTip(0n));
  expect((await attempts()).map(({ maxFeePerGas }) => maxFeePerGas)).toEqual([0n]);
  expect(await setup.settle(ids)).toEqual([]);
});

test('N11: a node without the `pending` block mints', async () => {
  const ids = await mintWith(withoutPending, without('eth_getBlockReceipts'));
  expect(await setup.settle(ids)).toEqual([]);
});
