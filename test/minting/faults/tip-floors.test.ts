import { Transaction } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandLine, settingsFor } from '../../cli/command-line.ts';
import { until, untilAll } from '../../support/minting.ts';
import { type Flaw, failure, of } from '../../support/node/flaw.ts';
import { tipFloor, without, withoutPending } from '../../support/node/limits.ts';
import { refusesBroadcasts, suggestsTip } from '../../support/node/wrongs.ts';
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

describe('a least tip is paid, though the node suggests nothing and says', () => {
  test.each([
    [
      'N3: what it has and needs',
      (tip: bigint) => `transaction gas price below minimum: gas tip cap ${tip}, minimum needed ${least}`,
      3,
    ],
    ['N7: words that nobody knows', () => 'der Knoten mag das nicht', 60],
  ])('%s', async (_what, say, most) => {
    const ids = await mintWith(suggestsTip(0n), tipFloor({ least, say }));
    const sent = await attempts();
    expect(sent.length).toBeLessThanOrEqual(most);
    expect(sent.filter(({ maxFeePerGas }) => (maxFeePerGas ?? 0n) > 500n * gwei)).toEqual([]);
    // Not much more is paid than the node wants.
    expect((sent.at(-1)?.maxPriorityFeePerGas ?? 0n) <= (least * 9n) / 8n).toBe(true);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('nothing, because the operator has set the tip for the network', async () => {
    await setup.service.db('networks').update({ min_tip: least.toString() });
    const ids = await mintWith(suggestsTip(0n), tipFloor({ least, say: () => 'transaction underpriced' }));
    expect((await attempts()).filter(({ maxPriorityFeePerGas: tip }) => (tip ?? 0n) !== least)).toEqual([]);
    expect(await setup.settle(ids)).toEqual([]);
  });
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

test('a node that says that it has what it does not have is answered with a higher price, too', async () => {
  const { chain } = setup;
  await chain.call('evm_setAutomine', false);
  chain.market.hold(gwei);
  await chain.mine(3);
  setup.node.setFlaws(tipFloor({ least: 2n * gwei, say: () => 'already known' }), suggestsTip(gwei));
  const ids = await setup.accept(2);
  setup.work(undefined, { MINT_STUCK_BLOCKS: '2' });
  const mining = setup.keepMining();
  await untilAll(setup.service, ids, 'minted', 60);
  mining.stop();
  expect(await setup.settle(ids)).toEqual([]);
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

test('a node that refuses everything has the reason with its words and a remedy, at the cap and for one NFT', async () => {
  const { node, service } = setup;
  node.setFlaws(refusesBroadcasts('we do not like you'));
  const ids = await setup.accept(5);
  setup.work(undefined, { MINT_MAX_FEE_GWEI: '30' });
  const mining = setup.keepMining(50);
  const isSingle = async () => {
    const [last] = (await attempts()).slice(-1);
    return (
      last?.data.length === 2 + 8 + 64 * 6 &&
      last.maxFeePerGas === 30n * gwei &&
      last.maxPriorityFeePerGas === 30n * gwei
    );
  };
  await until('one NFT at the cap', isSingle, 40);
  const count = (await attempts()).length;
  const looks = node.given().length;
  await until('more looks', async () => node.given().length > looks + 10);
  mining.stop();
  expect(await attempts()).toHaveLength(count);
  expect(await lane()).toMatchObject({
    pause_reason: 'broadcast_refused',
    pause_detail: expect.stringContaining('we do not like you'),
  });
  expect(await service.db('mint_notes').where('reason', 'unexplained')).toEqual([]);
  const cli = commandLine(settingsFor(service.databaseUrl));
  const { value } = await cli.json('mint', 'show');
  expect(JSON.stringify(value)).toContain('MINT_MAX_FEE_GWEI');
  node.setFlaws();
  expect(await setup.settle(ids)).toEqual([]);
});
