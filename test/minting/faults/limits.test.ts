import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const transactions = () => setup.service.db('mint_transactions').orderBy('nonce');

describe('a lane', () => {
  test('has 8 transactions of one company in flight at most, none with more gas than its share of a block', async () => {
    const { chain, node, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(100);
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

  // The time that a process gets is 30 s; with 8 transactions a node that never answers would take 40.
  test('that is told to stop does not wait for a silent node once for each transaction', async () => {
    const { chain, node, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(80);
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
