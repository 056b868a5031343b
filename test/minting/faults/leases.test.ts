import { afterEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
afterEach(() => setup.close());

const lane = () => setup.service.db('mint_lanes').first();
const isHeldBy = async (pid: number | undefined) => (await lane()).holder?.endsWith(` ${pid}`) === true;
/** As after a step of the database's clock: an hour ahead when the lease was renewed, right again now. */
const dateAhead = () =>
  setup.service.db('mint_lanes').update({ expires_at: setup.service.db.raw("now() + interval '1 hour'") });

describe('a lease that the clock of the database dated an hour ahead', () => {
  test('is taken over within seconds when its holder is dead', async () => {
    setup = await createMintSetup();
    const first = setup.work();
    await first.until(/working/);
    const ids = await setup.accept(4);
    await until('the first has the lane', () => isHeldBy(first.child.pid));
    first.child.kill('SIGKILL');
    await first.ended;
    await dateAhead();
    const second = setup.work();
    await second.until(/working/);
    await until('the second has the lane', () => isHeldBy(second.child.pid), 10);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('is taken over when its holder stands still, which writes nothing when it goes on', async () => {
    setup = await createMintSetup();
    const first = setup.work();
    await first.until(/working/);
    await setup.chain.call('evm_setAutomine', false);
    const ids = await setup.accept(4);
    await untilAll(setup.service, ids, 'submitted');
    first.child.kill('SIGSTOP');
    await dateAhead();
    const second = setup.work();
    await until('the second has the lane', () => isHeldBy(second.child.pid), 10);
    const { fence } = await lane();
    ids.push(...(await setup.accept(4)));
    await untilAll(setup.service, ids, 'submitted');
    first.child.kill('SIGCONT');
    expect(await setup.settle(ids)).toEqual([]);
    const late = await setup.service
      .db('mint_transactions')
      .where('fence', '<', fence)
      .max('created_at as at');
    const early = await setup.service.db('mint_transactions').where({ fence }).min('created_at as at');
    expect(late[0]?.['at'] < early[0]?.['at']).toBe(true);
  });

  test('stays with a holder that lives', async () => {
    setup = await createMintSetup();
    const first = setup.work();
    await first.until(/working/);
    await until('the first has the lane', () => isHeldBy(first.child.pid));
    const { fence } = await lane();
    await dateAhead();
    const second = setup.work();
    await second.until(/working/);
    const mining = setup.keepMining();
    const ids: string[] = [];
    // Longer than a lease of the workers.
    for (let round = 0; round < 3; round += 1) {
      ids.push(...(await setup.accept(3)));
      await untilAll(setup.service, ids, 'minted');
    }
    mining.stop();
    expect((await lane()).fence).toBe(fence);
    expect(await setup.settle(ids)).toEqual([]);
  });
});

describe('a database that went back to an earlier state', () => {
  test('stops the lane of the workers that have seen a later one, and says so', async () => {
    setup = await createMintSetup();
    const { db } = setup.service;
    await db('mint_lanes').update({ fence: 6 });
    const first = setup.work();
    await first.until(/working/);
    await until('the first has the lane', () => isHeldBy(first.child.pid));
    expect((await lane()).fence).toBe('7');
    // As a standby that had seen an earlier holder.
    await db('mint_lanes').update({ fence: 4, holder: 'another 1', expires_at: db.raw('now()') });
    await until('a pause', async () => (await lane()).pause_reason === 'database_went_back');
    await until('its release', async () => (await lane()).holder === null);
    const ids = await setup.accept(2);
    await first.until(/mint lane paused/);
    // The job that waited for the mint has been fetched, so the worker was asked to poll.
    await until('its job', async () => (await db('pgboss.job').whereNot({ state: 'created' })).length > 0);
    expect(await db('mint_transactions')).toEqual([]);
    expect(await lane()).toMatchObject({ fence: '5', holder: null });
    // Who was restarted has seen nothing later: that is how an operator lets it go on.
    await setup.killAll();
    expect(await setup.settle(ids)).toEqual([]);
  });
});
