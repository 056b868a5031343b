import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const transactions = () => setup.service.db('mint_transactions').orderBy('nonce');
const attempts = () => setup.service.db('mint_attempts').orderBy('number');
const gwei = 1_000_000_000n;

const acceptMany = async (count: number) => {
  const ids: string[] = [];
  while (ids.length < count) ids.push(...(await setup.accept(10)));
  return ids;
};

describe('a lane', () => {
  test('has 8 transactions of one company in flight at most, none with more gas than its share of a block', async () => {
    const { chain, node, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await acceptMany(100);
    // Of 30 million: room for five.
    setup.work(undefined, { MINT_BLOCK_SHARE_PERCENT: '1' });
    await until('all that may go out', async () => new Set(node.given()).size === 8);
    const looks = node.given().length + 8;
    await until('another round', async () => node.given().length > looks);
    const sent = await transactions();
    expect(sent.map(({ nonce }) => Number(nonce))).toEqual(Array.from({ length: 8 }, (_, index) => index));
    expect(sent.filter(({ gas_limit: gas }) => BigInt(gas) > 300_000n)).toEqual([]);
    const [queued] = await service.db('nfts').where({ mint_state: 'queued' }).count();
    expect(queued).toEqual({ count: '60' });
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('raises both fees by an eighth at least, and at the cap sends the same bytes again', async () => {
    const { chain, node } = setup;
    await chain.call('anvil_setNextBlockBaseFeePerGas', '0x3b9aca00');
    await chain.mine();
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(2);
    setup.work(undefined, { MINT_STUCK_BLOCKS: '1', MINT_MAX_FEE_GWEI: '6' });
    await untilAll(setup.service, ids, 'submitted');
    // Blocks that are too dear for it, for as long as it may pay more.
    const block = async () => {
      await chain.call('anvil_setNextBlockBaseFeePerGas', '0x2540be400');
      await chain.mine();
    };
    const above = (fee: string) => (BigInt(fee) * 9n) / 8n;
    const isAtCap = async () => (await attempts()).some(({ max_fee_per_gas: fee }) => above(fee) > 6n * gwei);
    await until('the cap', async () => {
      await block();
      return isAtCap();
    });
    const made = await attempts();
    for (const [index, attempt] of made.entries()) {
      const before = made[index - 1];
      if (before === undefined) continue;
      expect(BigInt(attempt.max_fee_per_gas)).toBeGreaterThanOrEqual(above(before.max_fee_per_gas));
      const tips = [before, attempt].map((each) => BigInt(each.max_priority_fee_per_gas));
      expect(tips[1]).toBeGreaterThanOrEqual(above(String(tips[0])));
      expect(BigInt(attempt.max_fee_per_gas)).toBeLessThanOrEqual(6n * gwei);
    }
    const last = `0x${made.at(-1)?.raw.toString('hex')}`;
    const times = () => node.given().filter((raw) => raw === last).length;
    const before = times();
    await until('the same bytes', async () => {
      await block();
      return times() > before + 2;
    });
    expect(await attempts()).toHaveLength(made.length);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('pauses when what it has signed cannot be paid for, and goes on when it can', async () => {
    const { chain, service } = setup;
    const [signer] = setup.signers;
    const paused = (wanted: string | null) =>
      until(`pause ${wanted}`, async () => {
        const { pause_reason: reason } = await service.db('mint_lanes').first();
        return reason === wanted;
      });
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(2);
    setup.work();
    await untilAll(service, ids, 'submitted');
    await chain.call('anvil_setBalance', signer, '0x1');
    await chain.call('anvil_dropAllTransactions');
    await chain.mine();
    const mining = setup.keepMining();
    await paused('balance_too_low');
    await chain.call('anvil_setBalance', signer, '0x56bc75e2d63100000');
    await paused(null);
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });

  // The time that a process gets is 30 s; with 8 transactions a node that never answers would take 40.
  test('that is told to stop does not wait for a silent node once for each transaction', async () => {
    const { chain, node, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await acceptMany(80);
    const worker = setup.work(undefined, { MINT_BLOCK_SHARE_PERCENT: '1', RPC_TIMEOUT_MS: '5000' });
    await until('all are out', async () => new Set(node.given()).size === 8);
    node.lie('takes and hangs');
    await until('it hangs', async () => node.told() > 0);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    expect(await service.db('mint_lanes').first()).toMatchObject({ holder: null, expires_at: null });
    expect(await setup.settle(ids)).toEqual([]);
  });
});
