import { readFile } from 'node:fs/promises';
import type { Knex } from 'knex';
import { describe, expect, vi } from 'vitest';
import { findProgram } from '../../scripts/find-program.ts';
import { commandLine, settingsFor } from '../cli/command-line.ts';
import { addNetwork, addRwa } from '../rwa/samples.ts';
import { firedAlerts } from '../support/fired-alerts.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { startMoralisServer } from '../support/moralis-server.ts';
import { freePort } from '../support/postgres.ts';
import { populate } from '../support/serving.ts';
import { alertsOf } from './alert-causes.ts';
import { startScraped } from './scraped-process.ts';

const wallet = `0x${'ab'.repeat(20)}`;
const replaced = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

/** The index of a network that has another provider by now, stuck when it was left. */
async function keepIndex(db: Knex): Promise<void> {
  await addNetwork(db, '1');
  await db('networks').update({ data_provider: 'moralis' });
  const dayAgo = db.raw("now() - interval '1 day'");
  await db('index_state').insert({
    chain_id: 1,
    start_block: 0,
    node_head: 500,
    updated_at: dayAgo,
    new_block_at: dayAgo,
    stuck_reason: 'it was left',
    stuck_since: dayAgo,
  });
}

/** A process for which much goes wrong, as it shows it, and one that has all that it needs. */
const test = base.extend('world', perFile, async ({ db, databaseUrl, otherDatabase }, { onCleanup }) => {
  const opened = new AsyncDisposableStack();
  onCleanup(() => opened.disposeAsync());
  const moralis = opened.adopt(await startMoralisServer({ histories: {}, nfts: {} }), (each) => each.close());
  const { keys, companies } = await populate(db, { moralis });
  const operator = commandLine(settingsFor(databaseUrl));
  await addRwa(db, companies.acme, { isClaimable: true });
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  // Its node is gone, and was last heard of five minutes ago.
  await db.raw(`INSERT INTO index_state (chain_id, start_block, head_number, head_hash, head_time, node_head, updated_at)
    VALUES (31337, 0, 9, '\\x00', now(), 500, now() - interval '5 minutes')`);
  // Of the local chain it would be no matter that nobody sends: another index has had no new block for as long.
  await addNetwork(db, '137', nowhere);
  await db.raw(`INSERT INTO index_state (chain_id, start_block) VALUES (137, 0)`);
  await db('index_state').update({ new_block_at: db.raw(`now() - interval '20 minutes'`) });
  // Nobody serves this lane either, and nobody needs to.
  await db('mint_lanes').insert({ chain_id: 31337, signer: replaced });
  const stopped = ['--chain', '31337', '--signer', replaced];
  expect((await operator.run('mint', 'pause', ...stopped)).status).toBe(0);
  await db.raw(`INSERT INTO news (company_id, type, subject, data, created_at)
    VALUES ('acme', 'event.updated', gen_random_uuid(), '{}', now() - interval '1 hour')`);
  await db.raw(`INSERT INTO news (company_id, type, subject, data, created_at, position)
    VALUES ('globex', 'event.updated', gen_random_uuid(), '{}', now() - interval '2 hours', 1)`);
  await db('news_feeds').insert({ company_id: 'globex', last_position: 1 });
  await db.raw(`INSERT INTO news_endpoints (id, company_id, url, secrets, first_position, position)
    VALUES (gen_random_uuid(), 'globex', 'http://127.0.0.1:9/', '{}', 0, 0)`);
  await db.raw(`INSERT INTO nft_ledgers (chain_id, contract, first_block, number, hash, time, caught_up_at)
    SELECT chain_id, contract_address, 0, 0, '0x', now(), now() - interval '1 hour' FROM rwas`);
  const holder = await db.transaction();
  opened.defer(async () => void (await holder.rollback()));
  await holder.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
  await holder.raw('SELECT FROM news FOR UPDATE');
  const ill = await startScraped(
    databaseUrl,
    {
      ROLES: 'api,worker,indexer',
      DATABASE_REPLICA_URL: databaseUrl.replace(/:\d+\//, `:${await freePort()}/`),
      MORALIS_BASE_URL: moralis.baseUrl,
      MORALIS_API_KEY: moralis.apiKey,
    },
    { providerTimeoutMs: 300, providerDeadlineMs: 600 },
  );
  opened.defer(() => ill.stop());
  const hosted = `/blockchain/v1/api/wallet/history?chainId=1&address=${wallet}`;
  expect(await ill.ask(hosted, keys.acme)).toBe(200);
  const before = await ill.settled();
  moralis.meet(500);
  await vi.waitFor(
    async () => {
      await ill.ask(hosted, keys.acme);
      await ill.ask(`/blockchain/v1/api/token/balance?chainId=31337&address=${wallet}`, keys.acme);
      const text = await ill.scrape();
      expect(text).toMatch(/^tallystick_circuit_breakers\{.*state="open"\} 1$/m);
      expect(text).toMatch(/^tallystick_replica_used 0$/m);
    },
    { timeout: 60_000, interval: 100 },
  );
  const locked = await startScraped(databaseUrl, {
    ROLES: 'api',
    KEY_VERIFIER: 'remote',
    AUTH_URL: nowhere,
    AUTH_CREDENTIAL: 'nobody-asks-for-it',
  });
  opened.defer(() => locked.stop());
  const unasked = await locked.scrape();
  expect(await locked.ask('/v1/api/rwa', keys.acme)).toBe(503);
  await keepIndex(otherDatabase.db);
  const well = await startScraped(otherDatabase.url, { ROLES: 'api,worker,indexer' });
  opened.defer(() => well.stop());
  return {
    ill: { before, after: await ill.settled() },
    locked: { before: unasked, after: await locked.settled() },
    well: { before: await well.settled(), after: await well.settled() },
  };
});

describe.skipIf(findProgram('promtool') === undefined)('alerts, over what real processes show', () => {
  test('fire for what is wrong, and nothing else does', async ({ world }) => {
    // The ledger of owners asks a node that is gone.
    const expected = [...alertsOf('ill'), 'TallystickNodeUnfit'].toSorted();
    expect(await firedAlerts(world.ill)).toEqual(expected);
    expect(await firedAlerts(world.locked)).toEqual(expect.arrayContaining(alertsOf('locked')));
  });

  test('on lanes and indexes fire by what an api alone shows', async ({ world }) => {
    const unserved = ['TallystickIndexBehind', 'TallystickIndexSilent', 'TallystickMintLaneUnattended'];
    expect(await firedAlerts(world.locked)).toEqual(expect.arrayContaining(unserved));
  });

  test('are silent where all is well, and one fires where nothing answers', async ({ world }) => {
    expect(await firedAlerts(world.well)).toEqual([]);
    expect(await firedAlerts({ before: world.well.before, after: undefined })).toEqual(alertsOf('gone'));
  });
});

describe('rules and dashboard', () => {
  // Of work that fails and of nodes that are well: tests of these show them (jobs/job-metrics, chain/node-pool).
  const elsewhere = [
    'tallystick_job_runs_total outcome failed',
    'tallystick_http_problems_total code overloaded',
  ];

  test('compare labels with values that real processes show', async ({ world }) => {
    const shown = [world.ill, world.locked].map(({ after }) => after).join('\n');
    const text =
      (await readFile('deploy/monitoring/rules.yaml', 'utf8')) +
      (await readFile('deploy/monitoring/dashboard.json', 'utf8')).replaceAll('\\"', '"');
    const wanted = [...text.matchAll(/(tallystick_\w+)\{(\w+)!?=(~?)"([^"]+)"/g)].flatMap(
      ([, name = '', label = '', isPattern, value = '']) =>
        (isPattern === '' ? [value] : value.split('|')).map((each) => [name, label, each] as const),
    );
    expect(wanted.length).toBeGreaterThan(8);
    const missing = wanted.filter(
      ([name, label, value]) =>
        !new RegExp(`^${name}\\{(?:.*,)?${label}="${value}"`, 'm').test(shown) &&
        !elsewhere.includes([name, label, value].join(' ')),
    );
    expect(missing).toEqual([]);
  });
});
