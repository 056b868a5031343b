import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faults, until, untilAll } from '../support/minting.ts';
import { type LoggedWorker, startLoggedWorker } from './logged-worker.ts';
import { createMintSetup, type MintSetup } from './mint-setup.ts';

let setup: MintSetup;
let worker: LoggedWorker;
let signer: string;
const said = (msg: string) => worker.said(msg);
const ask = (path: string) => worker.ask(path);

/** The value of a metric, its labels without those of the lane. */
function value(name: string, labels = ''): Promise<number | undefined> {
  const lane = labels.startsWith('-') ? '' : `,signer="${signer}"`;
  const rest = labels.replace(/^-/, '');
  return worker.metric(`${name}{chain_id="31337"${lane}${rest && `,${rest}`}} `);
}

/** Lets blocks come until all that was accepted is final. @returns what is wrong then */
async function finish(ids: readonly string[]): Promise<string[]> {
  const { chain, service } = setup;
  await chain.call('evm_setAutomine', true);
  const mining = setup.keepMining(50);
  const isOpen = () => service.db('mint_transactions').whereIn('state', ['submitted', 'confirmed']);
  await untilAll(service, ids, 'minted');
  await until('finality', async () => (await isOpen()).length === 0);
  mining.stop();
  return faults(service, chain, ids);
}

beforeAll(async () => {
  setup = await createMintSetup();
  signer = new Wallet(setup.chain.keys[0] ?? '').address;
  worker = await startLoggedWorker(setup);
});
afterAll(async () => {
  await worker.stop();
  await setup.close();
});

describe('operators of a process that is only worker', () => {
  test('see counts from 0 on', async () => {
    for (const name of ['minted_total', 'failed_total', 'reorganised_total']) {
      await until(name, async () => (await value(name)) === 0);
    }
  });

  test('see what waits and why, and that it is not ready until the cause is gone', async () => {
    await setup.chain.call('anvil_setBalance', signer, '0x1');
    const ids = await setup.accept(3);
    await until('the pause', async () => (await ask('/readyz')).status === 503);
    expect(await (await ask('/readyz')).json()).toMatchObject({
      checks: { database: 'ok', jobs: 'ok', minting: 'failing' },
    });
    expect((await ask('/healthz')).status).toBe(200);
    expect(await value('queued', '-')).toBe(3);
    expect(await value('oldest_queued_seconds', '-')).toBeGreaterThan(0);
    expect(await value('lane_paused', 'reason="balance_too_low"')).toBe(1);
    expect(await value('lane_held')).toBe(1);
    expect(await value('signer_balance')).toBe(1e-18);
    expect(said('mint lane paused')).toMatchObject([
      { chainId: '31337', signer, reason: 'balance_too_low', level: 'warn' },
    ]);

    await setup.chain.call('anvil_setBalance', signer, '0x56bc75e2d63100000');
    await untilAll(setup.service, ids, 'submitted');
    await until('readiness', async () => (await ask('/readyz')).status === 200);
    expect(await value('lane_paused', 'reason="balance_too_low"')).toBeUndefined();
    expect(said('mint lane resumed')).toMatchObject([{ chainId: '31337', signer }]);
    expect(await finish(ids)).toEqual([]);
  });

  test('see every NFT minted once, how long it took, and every attempt in the log', async () => {
    const before = (await value('minted_total')) ?? 0;
    const ids = await setup.accept(4);
    expect(await finish(ids)).toEqual([]);
    expect(await value('minted_total')).toBe(before + 4);
    expect(await value('seconds_count', '-')).toBe(before + 4);
    expect(await value('queued', '-')).toBe(0);
    expect(await value('in_flight')).toBe(0);
    expect(await value('nonce_gap', 'at="latest"')).toBe(0);
    expect(await value('signer_balance')).toBeCloseTo(100, 0);

    const attempts = await setup.service
      .db('mint_attempts as a')
      .join('mint_transactions as t', 't.id', 'a.transaction_id')
      .select('a.*', 't.nonce');
    expect(await value('broadcasts_total', 'kind="first"')).toBe(attempts.length);
    const sent = said('mint signed').flatMap(({ nftIds }) => nftIds as string[]);
    expect(sent).toEqual(expect.arrayContaining(ids));
    for (const attempt of attempts) {
      const facts = {
        chainId: '31337',
        signer,
        transaction: attempt.transaction_id,
        nonce: attempt.nonce,
        attempt: 1,
        hash: attempt.hash,
        maxFeePerGas: attempt.max_fee_per_gas,
      };
      for (const msg of ['mint signed', 'mint broadcast', 'mint mined', 'minted', 'mint final']) {
        expect(said(msg)).toContainEqual(expect.objectContaining(facts));
      }
    }
  });

  test('see transactions in flight, bumped and sent again', async () => {
    const { chain } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(1);
    await untilAll(setup.service, ids, 'submitted');
    await until('the flight', async () => (await value('in_flight')) === 1);
    expect(await value('nonce_gap', 'at="latest"')).toBe(1);
    await chain.call('anvil_dropAllTransactions');
    await until(
      'a rebroadcast',
      async () => ((await value('broadcasts_total', 'kind="rebroadcast"')) ?? 0) > 0,
    );
    await until('a bump', async () => {
      // Blocks in which the transaction has no place, since it pays less than they ask for.
      await chain.call('anvil_setNextBlockBaseFeePerGas', '0x174876e800');
      await chain.mine();
      return ((await value('broadcasts_total', 'kind="bumped"')) ?? 0) > 0;
    });
    const [bump] = said('mint bumped');
    expect(bump).toMatchObject({ attempt: 2, hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    const [first] = said('mint signed').filter(({ nonce }) => nonce === bump?.['nonce']);
    expect(BigInt(String(bump?.['maxFeePerGas']))).toBeGreaterThan(BigInt(String(first?.['maxFeePerGas'])));
    expect(said('mint rebroadcast').length).toBeGreaterThan(0);
    expect(await finish(ids)).toEqual([]);
  });

  test('see what a reorganisation took back', async () => {
    const { chain, service } = setup;
    const before = (await chain.mints()).size;
    const ids = await setup.accept(1);
    await until('a block', async () => (await chain.mints()).size === before + 1);
    await chain.mine();
    await untilAll(service, ids, 'minted');
    await chain.call('evm_setAutomine', false);
    await chain.call('anvil_reorg', 2, []);
    await untilAll(service, ids, 'submitted');
    await until('the count', async () => (await value('reorganised_total')) === 1);
    expect(said('reorganisation took a mint back')).toMatchObject([
      { unminted: 1, chainId: '31337', signer },
    ]);
    expect(await finish(ids)).toEqual([]);
  });

  test('see what failed; and stay ready while an operator has stopped the lane', async () => {
    const { chain, service } = setup;
    await service.db('mint_lanes').update({ stopped_by_operator: true });
    const [id = ''] = await setup.accept(1);
    await until('the pause', async () => (await value('lane_paused', 'reason="operator"')) === 1);
    expect((await ask('/readyz')).status).toBe(200);
    const { token_id: token } = await service.db('nfts').where({ id }).first();
    await chain.mintByHand('0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc', token);
    await service.db('mint_lanes').update({ stopped_by_operator: false });
    const mining = setup.keepMining(50);
    await untilAll(service, [id], 'failed');
    await until('the count', async () => (await value('failed_total')) === 1);
    mining.stop();
  });

  test('see everything else while a node does not answer', async () => {
    const failures = async () => {
      const text = await (await ask('/metrics')).text();
      const name = `tallystick_scrape_failures_total{source="mint_signer ${signer} on 31337"} `;
      return Number(text.split(name)[1]?.split('\n')[0] ?? 0);
    };
    const before = await failures();
    setup.node.lie('down');
    const text = await (await ask('/metrics')).text();
    expect(text).toContain('tallystick_mint_queued{chain_id="31337"} 0\n');
    expect(text).not.toContain('tallystick_mint_signer_balance{');
    // On a busy machine it may have been late before.
    expect(await failures()).toBeGreaterThan(before);
    setup.node.lie(undefined);
    expect(await value('signer_balance')).toBeDefined();
  });

  test('see no key and no signed bytes in the log', async () => {
    const log = worker.log();
    for (const key of setup.chain.keys) expect(log).not.toContain(key.slice(2));
    const attempts: { raw: Buffer }[] = await setup.service.db('mint_attempts').select('raw');
    expect(attempts.length).toBeGreaterThan(0);
    for (const { raw } of attempts) expect(log).not.toContain(raw.toString('hex'));
    expect(log).toContain('mint signed');
  });
});
