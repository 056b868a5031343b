import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { auditedActions, commandLine, settingsFor } from '../../cli/command-line.ts';
import { type Backup, backUp } from '../../support/database-backup.ts';
import { faults, until, untilAll, untilInPool } from '../../support/minting.ts';
import { of } from '../../support/node/flaw.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const secretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`;
const settings = () => ({ ...settingsFor(setup.service.databaseUrl), SECRET_KEYS: secretKeys });
const json = (...args: string[]) => commandLine(settings()).json(...args);
/** A signer that minted before it was rotated. */
const elder = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';

const lane = () => setup.service.db('mint_lanes').first();
const pausedFor = (reason: string) =>
  until(`pause ${reason}`, async () => (await lane()).pause_reason === reason);

/** Accepts and mints, until that is final. */
const mintFinally = async (count: number) => {
  const ids = await setup.accept(count);
  const mining = setup.keepMining();
  await untilAll(setup.service, ids, 'minted');
  mining.stop();
  await setup.chain.mine(5);
  await until('finality', async () => {
    const [open] = await setup.service
      .db('mint_transactions')
      .whereIn('state', ['submitted', 'confirmed'])
      .count();
    return Number(open?.['count']) === 0;
  });
  return ids;
};

const restore = async (backup: Backup) => {
  await setup.killAll();
  await backup.restore();
  await until('the service is there again', () =>
    setup.service.db.raw('SELECT 1').then(
      () => true,
      () => false,
    ),
  );
};

const tokensOf = async (ids: readonly string[]) =>
  (await setup.service.db('nfts').whereIn('id', [...ids])).map((row) => row.token_id);

describe('a database that was restored from a backup older than the chain', () => {
  test.each([
    ['after some mints', 3],
    ['before the first mint', 0],
  ])('taken %s: nothing is minted until it is recovered, then everything once', async (_when, before) => {
    await setup.work().until(/working/);
    const kept = before === 0 ? [] : await mintFinally(before);
    const backup = await backUp(setup.service.databaseUrl);
    const lost = await mintFinally(4);
    const lostTokens = await tokensOf(lost);
    const mintsBefore = await setup.chain.mints();
    await restore(backup);

    const fresh = await setup.accept(2);
    const freshTokens = await tokensOf(fresh);
    setup.work();
    await pausedFor('recovery_needed');
    expect((await setup.chain.mints()).size).toBe(mintsBefore.size);
    expect(await setup.service.db('nfts').whereIn('id', fresh).pluck('mint_state')).toEqual([
      'queued',
      'queued',
    ]);

    const dry = await json('recover');
    expect(dry).toMatchObject({ status: 1, value: { applied: false, found: 4, wouldFix: 4, waiting: 0 } });
    expect(await setup.service.db('nfts').count()).toMatchObject([{ count: String(before + 2) }]);
    // Questions are counted by the block.
    await setup.chain.mine();
    const applied = await json('recover', '--apply');
    await setup.chain.mine();
    expect(applied).toMatchObject({ status: 0, value: { applied: true, fixed: 4, left: 0, waiting: 0 } });

    expect(lostTokens.filter((token) => freshTokens.includes(token))).toEqual([]);
    const again = await setup.service.db('nfts').whereIn('token_id', lostTokens);
    expect(again.map((row) => row.mint_state)).toEqual(['minted', 'minted', 'minted', 'minted']);
    expect(again.map((row) => row.id).filter((id) => fresh.includes(id))).toEqual([]);
    const ids = [...kept, ...again.map((row) => row.id), ...fresh];
    expect(await setup.settle(ids)).toEqual([]);
    expect((await setup.chain.mints()).size).toBe(before + 4 + 2);
    expect(await json('mint', 'verify')).toMatchObject({ status: 0, value: { disagreeing: 0 } });
    expect(await setup.service.db('rwas').select('last_serial', 'total_nfts', 'claimed_nfts')).toEqual([
      { last_serial: String(before + 6), total_nfts: String(before + 6), claimed_nfts: String(before + 6) },
    ]);
  });

  test('with NFTs that were issued before it and minted since: they are minted, not minted again', async () => {
    setup.work();
    await mintFinally(1);
    const mining = setup.keepMining();
    await setup.chain.call('anvil_setBalance', setup.signers[0], '0x1');
    const queued = await setup.accept(3);
    await pausedFor('balance_too_low');
    const backup = await backUp(setup.service.databaseUrl);
    await setup.chain.call('anvil_setBalance', setup.signers[0], '0x56bc75e2d63100000');
    await untilAll(setup.service, queued, 'minted');
    await setup.chain.mine(5);
    mining.stop();
    await restore(backup);
    setup.work();
    await pausedFor('recovery_needed');
    expect(await json('recover', '--apply')).toMatchObject({ status: 0, value: { fixed: 3, left: 0 } });
    expect(await faults(setup.service, setup.chain, queued)).toEqual([]);
    const more = await setup.accept(2);
    expect(await setup.settle([...queued, ...more])).toEqual([]);
  });

  test('finds the mints of a signer that was rotated since: of MINT_SIGNERS, or as --signer', async () => {
    const [signer = ''] = setup.signers;
    await setup.service.db('mint_lanes').update({ signer: elder });
    const backup = await backUp(setup.service.databaseUrl);
    await setup.service.db('mint_lanes').update({ signer });
    setup.work();
    const lost = await mintFinally(2);
    const tokens = await tokensOf(lost);
    await restore(backup);

    const unnamed = await json('recover');
    expect(unnamed).toMatchObject({ value: { found: 2, wouldFix: 0, left: 2 } });
    expect(unnamed.value.findings[0].detail).toContain(`recover --apply --signer ${signer}`);
    expect(await json('recover', '--signer', signer)).toMatchObject({ value: { wouldFix: 2, left: 0 } });
    const keystore = path.join(await mkdtemp(path.join(tmpdir(), 'keystore-')), 'signer.json');
    await writeFile(keystore, JSON.stringify({ address: signer.slice(2).toLowerCase() }));
    const named = { MINT_SIGNERS: `31337=keystore:${keystore}`, MINT_KEYSTORE_PASSWORD_FILE: keystore };
    const applied = await commandLine({ ...settings(), ...named }).json('recover', '--apply');
    expect(applied).toMatchObject({ status: 0, value: { fixed: 2, left: 0 } });
    const found = await setup.service.db('nfts').whereIn('token_id', tokens).pluck('mint_state');
    expect(found).toEqual(['minted', 'minted']);
    expect(await json('mint', 'verify')).toMatchObject({ status: 0, value: { disagreeing: 0 } });
  });

  test('recovers only what is final: until then minting waits', async () => {
    setup.work();
    await mintFinally(1);
    const backup = await backUp(setup.service.databaseUrl);
    await setup.chain.call('evm_setAutomine', false);
    const lost = await setup.accept(1);
    await untilAll(setup.service, lost, 'submitted');
    await setup.killAll();
    await setup.chain.mine();
    await restore(backup);
    const early = await json('recover', '--apply');
    expect(early).toMatchObject({ status: 1, value: { waiting: 1 } });
    expect(await setup.service.db('mint_recoveries')).toHaveLength(1);
    await setup.chain.mine(5);
    expect(await json('recover', '--apply')).toMatchObject({ status: 0, value: { fixed: 1, waiting: 0 } });
    expect(await setup.service.db('mint_recoveries')).toHaveLength(0);
    expect(await setup.settle(await setup.accept(1))).toEqual([]);
  });
});

test.each([
  ['after some mints', 1],
  ['before the first mint', 0],
])(
  'a mint that is not final when a worker starts without a recovery, from a backup %s, is found before anything is sent',
  async (_when, before) => {
    const { chain, service } = setup;
    setup.work();
    if (before > 0) await mintFinally(before);
    else await until('the lane', async () => (await lane())?.holder !== undefined);
    const backup = await backUp(service.databaseUrl);
    await chain.call('evm_setAutomine', false);
    const lost = await setup.accept(1);
    await untilAll(service, lost, 'submitted');
    await untilInPool(chain);
    await setup.killAll();
    await chain.mine();
    await restore(backup);
    const fresh = await setup.accept(1);
    setup.work();
    await pausedFor('foreign_nonce');
    await chain.call('evm_setAutomine', true);
    const mining = setup.keepMining();
    await pausedFor('recovery_needed');
    mining.stop();
    expect((await chain.mints()).size).toBe(before + 1);
    expect(await setup.settle(fresh)).toEqual([]);
  },
);

test('a node that does not know who sent a lost mint lets nothing be sent to its contract', async () => {
  const { chain, node, service } = setup;
  setup.work();
  await mintFinally(1);
  const backup = await backUp(service.databaseUrl);
  await mintFinally(1);
  await restore(backup);
  node.setFlaws(of('eth_getTransactionByHash', () => ({ result: null })));
  const fresh = await setup.accept(1);
  setup.work();
  const paused = async () => (await service.db('mint_contracts').first())?.pause_reason;
  await until('the reason', async () => (await paused()) === 'history_unavailable');
  const { failed } = (await json('recover')).value;
  expect(failed).toEqual([expect.stringContaining(`${chain.contract} of network`)]);
  expect((await chain.mints()).size).toBe(2);
  node.setFlaws();
  await pausedFor('recovery_needed');
  expect(await setup.settle(fresh)).toEqual([]);
});

test('recover --begin lets minting wait at once', async () => {
  expect(await json('recover', '--begin')).toMatchObject({ status: 0 });
  const ids = await setup.accept(2);
  setup.work();
  await pausedFor('recovery_needed');
  expect(await json('recover', '--apply')).toMatchObject({ status: 0, value: { found: 0 } });
  expect(await auditedActions(setup.service.db)).toEqual(
    expect.arrayContaining(['recover.apply', 'recover.begin']),
  );
  expect(await setup.settle(ids)).toEqual([]);
});
