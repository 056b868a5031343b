import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandLine, settingsFor } from '../../cli/command-line.ts';
import { backUp } from '../../support/database-backup.ts';
import { until, untilAll } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup({ secondsBehind: 600 });
  await setDatabaseAhead();
});
afterEach(() => setup.close());

const secretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`;
const json = (...args: string[]) =>
  commandLine({ ...settingsFor(setup.service.databaseUrl), SECRET_KEYS: secretKeys }).json(...args);

/** Rows get times as if the clock of the database were two hours ahead. */
async function setDatabaseAhead(): Promise<void> {
  const { db } = setup.service;
  await db.raw(`CREATE FUNCTION test_ahead() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.created_at := NEW.created_at + interval '2 hours'; RETURN NEW; END $$`);
  for (const table of ['rwas', 'nfts'])
    await db.raw(
      `CREATE TRIGGER test_ahead BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION test_ahead()`,
    );
  await db('rwas').update({ created_at: new Date(Date.now() + 2 * 3_600_000) });
}

const mintFinally = async (ids: readonly string[]) => {
  const mining = setup.keepMining();
  await untilAll(setup.service, ids, 'minted');
  mining.stop();
  await setup.chain.mine(5);
  await until('finality', async () => {
    const open = await setup.service.db('mint_transactions').whereIn('state', ['submitted', 'confirmed']);
    return open.length === 0;
  });
};

const mintedTokens = async () => [...(await setup.chain.mints()).values()].map((mints) => mints.length);

describe('a chain ten minutes behind and a database two hours ahead', () => {
  test('after the documented restore, each lost row is found, and nothing is minted twice', async () => {
    const { chain, cli, service } = setup;
    setup.work();
    await mintFinally(await setup.accept(3));
    // These wait when the backup is made, and are minted afterwards.
    await cli.run('mint', 'pause');
    const queued = await setup.accept(4);
    const backup = await backUp(service.databaseUrl);
    await cli.run('mint', 'resume');
    await mintFinally(queued);
    const lost = await setup.accept(4);
    await mintFinally(lost);
    const tokens: string[] = await service.db('nfts').whereIn('id', lost).pluck('token_id');
    expect(await mintedTokens()).toHaveLength(11);
    expect(await service.db('mint_notes')).toEqual([]);

    await setup.killAll();
    await backup.restore();
    await until('the service is there again', () =>
      service.db.raw('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
    expect(await json('recover', '--begin')).toMatchObject({ status: 0 });
    expect(await json('recover')).toMatchObject({ status: 1, value: { found: 8, wouldFix: 8, left: 0 } });
    expect(await json('recover', '--apply')).toMatchObject({
      status: 0,
      value: { fixed: 8, left: 0, waiting: 0 },
    });
    expect(await json('mint', 'verify')).toMatchObject({ status: 0, value: { tokens: 11, disagreeing: 0 } });
    const found = await service.db('nfts').whereIn('token_id', tokens);
    expect(found.map((row) => row.mint_state)).toEqual(['minted', 'minted', 'minted', 'minted']);

    await cli.run('mint', 'resume');
    expect(await setup.settle([...queued, ...found.map((row) => row.id)])).toEqual([]);
    await chain.mine(5);
    expect(await mintedTokens()).toEqual(Array(11).fill(1));
    expect(await json('mint', 'verify')).toMatchObject({ status: 0, value: { tokens: 11, disagreeing: 0 } });
  });

  test('a restored database without a recovery lets minting wait', async () => {
    setup.work();
    await mintFinally(await setup.accept(1));
    const backup = await backUp(setup.service.databaseUrl);
    await mintFinally(await setup.accept(2));
    await setup.killAll();
    await backup.restore();
    const fresh = await setup.accept(1);
    setup.work();
    await until('the pause', async () => {
      const lane = await setup.service.db('mint_lanes').first();
      return lane?.pause_reason === 'recovery_needed';
    });
    expect(await setup.settle(fresh)).toEqual([]);
    expect(await mintedTokens()).toEqual([1, 1, 1, 1]);
    expect(await json('mint', 'verify')).toMatchObject({ status: 0, value: { tokens: 4, disagreeing: 0 } });
  });
});
