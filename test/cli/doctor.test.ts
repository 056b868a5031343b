import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, describe, expect, inject, onTestFinished, vi } from 'vitest';
import { examinePortal, examineSnapshots } from '../../src/cli/doctor/machine-check.ts';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import { loadConfig } from '../../src/config/config.ts';
import { findOldestSnapshot } from '../../src/db/schema/inspect.ts';
import { createEndpointSecrets } from '../../src/news/endpoints/endpoint-secret.ts';
import { startHttpServer } from '../keys/auth-server.ts';
import { addCompany, addNetwork, addNfts, addRwa, setZeroTreasury, vaultOf } from '../rwa/samples.ts';
import { callNode } from '../support/deploy.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { freePort } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { commandLine, runDoctor } from './command-line.ts';
import { test } from './fixtures.ts';

// The chain's own node takes no path; this one takes any, as those of providers do.
let node: TestNode;

test.beforeAll(async ({ chain }) => {
  node = await startNode(chain.rpcUrl);
});
afterAll(async () => {
  await node.close();
});

describe('doctor, on a new installation', () => {
  test('warns of what is not there yet, with the command that makes it', async ({ run }) => {
    const { status, out, err } = await run('doctor');
    expect(status).toBe(0);
    expect(out.split('\n')[0]).toMatch(/^STATE +CHECK +DETAIL$/);
    expect(out).toMatch(/^ok +settings +every setting is valid$/m);
    expect(out).toMatch(/^ok +database +PostgreSQL [\d.]+ answers in \d+ ms$/m);
    expect(out).toMatch(/^ok +schema +that of this release$/m);
    expect(out).toMatch(/^ok +claim secrets +every key in use is known and opens what it sealed$/m);
    expect(out).toMatch(
      /^warning +keys +companies: 0, active keys: 0: nobody can call; tallystick key create --help$/m,
    );
    expect(out).toMatch(/^warning +networks +none is registered yet: tallystick network add --help$/m);
    const warnings = out.match(/^warning/gm)?.length;
    expect(err).toBe(
      `The service can run, but ${warnings} warning(s) above name what is missing or at risk.\n`,
    );
  });
});

describe('doctor, on settings', () => {
  test('names every fault, and never the value of a secret', async ({ settings }) => {
    const bad = { DATABASE_URL: 'mysql://me:pass-word@host', SECRET_KEYS: 'pass-word', PORT: '70000' };
    const told = await commandLine({ ...settings, ...bad }).run('doctor');
    expect(told.status).toBe(1);
    for (const name of Object.keys(bad))
      expect(told.out).toMatch(new RegExp(`^FAULT +settings +${name}`, 'm'));
    expect(told.out + told.err).not.toContain('pass-word');
    expect(told.err).toBe('3 fault(s): fix them from the top, then run tallystick doctor again.\n');
  });
});

describe('doctor, on the database', () => {
  test('says where it does not answer', async ({ settings }) => {
    const port = await freePort();
    const DATABASE_URL = `postgres://me:pass-word@127.0.0.1:${port}/db`;
    const { status, of } = await runDoctor({ ...settings, DATABASE_URL });
    expect(status).toBe(1);
    const [found] = of('database');
    expect(found?.state).toBe('FAULT');
    expect(found?.detail).toContain(`PostgreSQL at 127.0.0.1:${port} cannot be reached`);
    expect(found?.detail).not.toContain('pass-word');
    expect(of('schema')).toEqual([]);
  });

  test.for([
    ['on', 'fsync, full_page_writes off'], // as the tests' server is
    ['off', 'fsync, full_page_writes, synchronous_commit off'],
  ] as const)(
    'warns where a crash of it loses what was accepted: synchronous_commit %s',
    async ([value, detail], { databaseUrl, settings }) => {
      const own = new URL(databaseUrl);
      own.searchParams.set('options', `-c synchronous_commit=${value}`);
      const { status, of } = await runDoctor({ ...settings, DATABASE_URL: own.href });
      expect(of('durability')).toMatchObject([{ state: 'warning', detail: expect.stringContaining(detail) }]);
      expect(status).toBe(0);
    },
  );

  test('warns where the server has no room for the connections of a process', async ({ settings }) => {
    expect((await runDoctor(settings)).of('connections')).toMatchObject([{ state: 'ok' }]);
    const { status, of } = await runDoctor({ ...settings, DATABASE_POOL_MAX: '500' });
    expect(of('connections')).toMatchObject([
      { state: 'warning', detail: expect.stringMatching(/^a process opens up to 501 of the server's \d+/) },
    ]);
    expect(status).toBe(0);
  });

  test('says what to run where the schema is missing, and looks no further', async ({ settings }) => {
    const { status, of } = await runDoctor({ ...settings, DATABASE_URL: inject('postgresUrl') });
    expect(status).toBe(1);
    expect(of('schema')[0]?.detail).toMatch(/Run: tallystick migrate$/);
    expect(of('keys')).toEqual([]);
  });
});

describe('doctor, on the tables of jobs', () => {
  test('is a fault without them, and migrate makes them', async ({ db, settings }) => {
    await db.raw('DROP SCHEMA pgboss CASCADE');
    const missing = await runDoctor(settings);
    expect(missing.status).toBe(1);
    expect(missing.of('jobs')).toMatchObject([
      { state: 'FAULT', detail: expect.stringMatching(/pgboss\.job: run tallystick migrate$/) },
    ]);
    await prepareDatabase(db);
    expect((await runDoctor(settings)).of('jobs')).toMatchObject([{ state: 'ok' }]);
    // Where only some are there, migrate does not make the others.
    await db.raw('DROP TABLE pgboss.job CASCADE');
    expect((await runDoctor(settings)).of('jobs')[0]?.detail).toContain('DROP SCHEMA pgboss CASCADE');
    await db.raw('DROP SCHEMA pgboss CASCADE');
    await prepareDatabase(db);
    expect((await runDoctor(settings)).of('jobs')).toMatchObject([{ state: 'ok' }]);
  });
});

describe('doctor, on claim secrets', () => {
  test('says which key SECRET_KEYS lacks', async ({ db, settings }) => {
    await addNetwork(db);
    await addCompany(db, 'acme');
    await addNfts(db, vaultOf(['lost']), await addRwa(db, 'acme'), 1);
    const { status, of } = await runDoctor(settings);
    expect(status).toBe(1);
    expect(of('claim secrets')).toEqual([
      {
        check: 'claim secrets',
        state: 'FAULT',
        detail: 'SECRET_KEYS lacks keys that claim secrets are encrypted with: lost',
      },
    ]);
    await db('nfts').delete();
  });
});

describe('doctor, on secrets of endpoints', () => {
  const sealWith = (keyId: string, byte: number, id: string) =>
    createEndpointSecrets(new Map([[keyId, Buffer.alloc(32, byte)]])).seal(id, 'whsec_1');

  test.for([
    ['lost', 9, 'SECRET_KEYS lacks keys that secrets of endpoints are encrypted with: lost'],
    ['first', 9, 'SECRET_KEYS has other bytes under the id first than'],
  ] as const)('says what is wrong with key %s', async ([keyId, byte, detail], { db, settings }) => {
    const id = randomUUID();
    await db('news_endpoints').insert({
      id,
      company_id: 'acme',
      url: 'https://partner.example/',
      secrets: [sealWith(keyId, byte, id)],
      first_position: 0,
      position: 0,
    });
    const { status, of } = await runDoctor(settings);
    expect(status).toBe(1);
    expect(of('endpoint secrets')).toMatchObject([
      { state: 'FAULT', detail: expect.stringContaining(detail) },
    ]);
    await db('news_endpoints').delete();
  });
});

describe('doctor, on a key that was made anew under its old id', () => {
  test('says so, and what to do', async ({ db, settings }) => {
    await addNfts(db, vaultOf(['first']), await addRwa(db, 'acme'), 1);
    const { status, of } = await runDoctor(settings);
    expect(status).toBe(1);
    expect(of('claim secrets')).toMatchObject([
      { state: 'FAULT', detail: expect.stringMatching(/other bytes under the id first .* its former bytes/) },
    ]);
    await addNfts(
      db,
      vaultOf(['first'], new Map([['first', Buffer.alloc(32, 1)]])),
      await addRwa(db, 'acme'),
      1,
    );
    const [mixed] = (await runDoctor(settings)).of('claim secrets');
    expect(mixed).toMatchObject({ state: 'FAULT', detail: expect.stringContaining('1 of 2 of key first') });
    await db('nfts').delete();
  });
});

describe('doctor, on nodes', () => {
  test('asks every node of every network', async ({ db, chain, settings, run }) => {
    const dead = `http://127.0.0.1:${await freePort()}/api-key`;
    await db('networks').delete().whereNotIn('chain_id', db('rwas').select('chain_id'));
    await addNetwork(db);
    await db('networks').update({ rpc_urls: [`${node.url}/api-key`, dead] });
    await addNetwork(db, '77', chain.rpcUrl);
    const { status, of } = await runDoctor(settings);
    expect(status).toBe(1);
    expect(of('network 31337')).toMatchObject([
      { state: 'ok', detail: `${node.url}/[redacted] is at block 0` },
      { state: 'FAULT', detail: expect.stringContaining('Check that the node runs') },
    ]);
    expect(of('network 77')).toMatchObject([
      { state: 'FAULT', detail: expect.stringContaining('serves chain 31337, not 77') },
    ]);
    expect((await run('doctor')).out).not.toContain('api-key');
  });
});

describe('doctor, on what nodes give', () => {
  test('tells finality, traces and logs, and warns of a chain that is ahead of the clock', async ({
    chain,
    settings,
  }) => {
    const [now] = (await runDoctor(settings)).of('node 31337');
    expect(now).toEqual({
      check: 'node 31337',
      state: 'ok',
      detail: `${node.url}/[redacted]; finalized 0; traces by trace_block; logs of 10000 blocks at once`,
    });
    await callNode(chain.rpcUrl, 'evm_increaseTime', ['0xe10']);
    await callNode(chain.rpcUrl, 'evm_mine', []);
    const [later] = (await runDoctor(settings)).of('node 31337');
    expect(later).toMatchObject({
      state: 'warning',
      detail: expect.stringMatching(/ 3[56]\d\d s in the future: set/),
    });
  });
});

describe('doctor, on contracts', () => {
  test('warns where no node answers, and says nothing against them', async ({ db, settings }) => {
    const [{ rpc_urls: urls }] = await db('networks').where({ chain_id: 31337 });
    const dead = [`http://127.0.0.1:${await freePort()}`];
    await db('networks').where({ chain_id: 31337 }).update({ rpc_urls: dead });
    expect((await runDoctor(settings)).of('contracts 31337')).toEqual([
      { check: 'contracts 31337', state: 'warning', detail: 'not examined, since no node answers: 1' },
    ]);
    await db('networks').where({ chain_id: 31337 }).update({ rpc_urls: urls });
  });
});

describe('doctor, on treasuries', () => {
  test('names the companies that have the zero address from before it was refused', async ({
    db,
    settings,
    run,
  }) => {
    await setZeroTreasury(db, 'acme');
    const { status, of } = await runDoctor(settings);
    expect(status).toBe(1);
    const detail = 'acme has the zero address: tallystick company update acme --treasury <address>';
    expect(of('treasury')).toEqual([{ check: 'treasury', state: 'FAULT', detail }]);
    const renamed = await run('company', 'update', 'acme', '--claim-url', 'https://acme.example');
    expect(renamed.err).toContain('The treasury must not be the zero address');
    expect((await run('company', 'update', 'acme', '--treasury', '')).status).toBe(0);
    expect((await runDoctor(settings)).of('treasury')).toMatchObject([{ state: 'warning' }]);
  });
});

describe('doctor, on companies without a treasury', () => {
  test('has one warning for all of them, with their number and the first names', async ({
    db,
    settings,
    run,
  }) => {
    for (const name of ['a1', 'a2', 'a3']) await run('company', 'create', name);
    const without = () => db('companies').whereNull('treasury_address').orderBy('name').pluck('name');
    const names = await without();
    expect(names.length).toBeGreaterThan(3);
    const { of } = await runDoctor(settings);
    const detail = `companies without one: ${names.length} (a1, a2, a3, …); their mints need a recipient: tallystick company update <company> --treasury <address>`;
    expect(of('treasury')).toEqual([{ check: 'treasury', state: 'warning', detail }]);
    await db('companies').whereIn('name', ['a1', 'a2', 'a3']).delete();
    await db('companies')
      .whereNull('treasury_address')
      .update({ treasury_address: `0x${'ab'.repeat(20)}` });
    expect((await runDoctor(settings)).of('treasury')).toEqual([]);
  });

  test('names a treasury that has become an NFT contract since', async ({ db, settings }) => {
    const { contract_address: address } = await db('rwas').where({ chain_id: 31337 }).first();
    await db('companies').where({ id: 'acme' }).update({ treasury_address: address });
    const of = (await runDoctor(settings)).of('treasury');
    await db('companies').where({ id: 'acme' }).update({ treasury_address: null });
    const detail = `acme has ${address}, to which no NFT can be minted: tallystick company update acme --treasury <address>`;
    expect(of).toEqual([{ check: 'treasury', state: 'FAULT', detail }]);
  });
});

describe('doctor, on data providers', () => {
  test('names the networks that need the account of the hosted one', async ({ db, chain, settings }) => {
    await addNetwork(db, '1', chain.rpcUrl);
    await db('networks').where({ chain_id: 1 }).update({ data_provider: 'moralis' });
    expect((await runDoctor(settings)).of('data provider')).toEqual([
      {
        check: 'data provider',
        state: 'warning',
        detail: 'networks without history and NFTs: 1; set MORALIS_API_KEY',
      },
    ]);
    expect((await runDoctor({ ...settings, MORALIS_API_KEY: 'account' })).of('data provider')).toEqual([]);
    await db('networks').delete().where({ chain_id: 1 });
  });
});

describe('doctor, on its machine', () => {
  test('warns where the clocks of machine and database differ', async ({ settings }) => {
    expect((await runDoctor(settings)).of('clock')).toMatchObject([{ state: 'ok' }]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const [found] = (await runDoctor(settings)).of('clock');
    expect(found).toMatchObject({
      state: 'warning',
      detail: expect.stringMatching(/^this machine is (59|60)\.\d s ahead of the database: .*NTP/),
    });
  });

  test('warns of a snapshot that is kept for long', async ({ settings, db }) => {
    expect((await runDoctor(settings)).of('snapshots')).toMatchObject([{ state: 'ok' }]);
    await db.transaction(
      async (tx) => {
        await tx.raw('SELECT 1');
        const found = await findOldestSnapshot(db);
        expect(found).toMatchObject({ minutes: 0, of: expect.stringMatching(/^process \d+ of tallystick /) });
      },
      { isolationLevel: 'repeatable read' },
    );
    const old = { raw: async () => ({ rows: [{ minutes: 7, of: 'prepared transaction 1' }] }) };
    expect(await examineSnapshots(old as unknown as Knex)).toMatchObject({
      state: 'warning',
      detail: expect.stringContaining('prepared transaction 1 has kept dead rows for 7 minutes'),
    });
  });

  test('warns where the portal is not built, and only where callers are served', async () => {
    const config = (roles: string) =>
      loadConfig({ DATABASE_URL: 'postgres://h/d', ROLES: roles, AREAS: 'events' });
    const empty = await mkdtemp(path.join(tmpdir(), 'tallystick-portal-'));
    onTestFinished(() => rm(empty, { recursive: true }));
    const [found] = await examinePortal(config('api'), empty);
    expect(found).toMatchObject({ state: 'warning', detail: expect.stringContaining('npm run docs') });
    expect(await examinePortal(config('worker'), empty)).toEqual([]);
    await writeFile(path.join(empty, 'manifest.json'), '{}');
    expect(await examinePortal(config('api'), empty)).toMatchObject([{ state: 'ok' }]);
  });
});

describe('doctor, on keys', () => {
  test('counts the active ones', async ({ settings, run }) => {
    await run('company', 'create', 'globex');
    await run('key', 'create', '--company', 'globex');
    expect((await runDoctor(settings)).of('keys')).toMatchObject([
      { state: 'ok', detail: /active keys: 1$/ },
    ]);
  });

  test('tells what cannot be asked of the database, and goes on with the rest', async ({ db, settings }) => {
    await db.raw('REVOKE SELECT ON companies, rwas FROM tallystick_operator');
    const { status, of } = await runDoctor(settings);
    await db.raw('GRANT SELECT ON companies, rwas TO tallystick_operator');
    expect(status).toBe(1);
    for (const check of ['keys', 'contracts', 'treasury'])
      expect(of(check)).toMatchObject([
        { state: 'warning', detail: expect.stringMatching(/^not seen: .*tallystick_operator may$/) },
      ]);
    expect(of('claim secrets')).toMatchObject([{ state: 'ok' }]);
  });

  test('verifies the key that it is given as the service does, and one that nobody has', async ({
    db,
    settings,
    json,
    run,
  }) => {
    await run('company', 'create', 'initech');
    const { value: made } = await json('key', 'create', '--company', 'initech');
    const own = (await runDoctor(settings)).of('authentication');
    expect(own).toMatchObject([
      { state: 'ok', detail: 'the own key store answers, and rejects a key that nobody has' },
    ]);
    const ask = async (key: string) =>
      (await runDoctor(settings, { environment: { TALLYSTICK_KEY: key } })).of('key')[0];
    expect(await ask(made.key)).toMatchObject({
      state: 'ok',
      detail: `TALLYSTICK_KEY is accepted as ${made.id} of initech`,
    });
    await run('key', 'revoke', made.id);
    expect(await ask(made.key)).toMatchObject({
      state: 'FAULT',
      detail: expect.stringContaining('TALLYSTICK_KEY is rejected'),
    });
    const { value: open } = await json('key', 'create');
    expect(await ask(open.key)).toMatchObject({
      state: 'ok',
      detail: expect.stringContaining('of no company'),
    });
    expect((await runDoctor(settings)).of('key')).toEqual([]);
    // A connection that is left open keeps the command from ending.
    await waitFor(async () => {
      const { rows } = await db.raw(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tallystick listener'",
      );
      expect(rows).toEqual([]);
    });
  });

  test('asks a remote authentication service about a key that nobody has', async ({ settings }) => {
    const answers = { body: JSON.stringify({ valid: false, error: { code: 'KEY_NOT_FOUND' }, key: null }) };
    const server = await startHttpServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(answers.body),
    );
    const remote = { KEY_VERIFIER: 'remote', AUTH_URL: server.url, AUTH_CREDENTIAL: 'pass-word' };
    expect((await runDoctor({ ...settings, ...remote })).of('authentication')).toMatchObject([
      { state: 'ok' },
    ]);
    answers.body = '<html>';
    expect((await runDoctor({ ...settings, ...remote })).of('authentication')).toMatchObject([
      {
        state: 'FAULT',
        detail: expect.stringContaining('Check AUTH_URL, AUTH_CREDENTIAL and AUTH_DIALECT.'),
      },
    ]);
    await server.close();
    const { value } = await commandLine({ ...settings, ...remote }).json('doctor');
    expect(JSON.stringify(value)).not.toContain('pass-word');
  });
});

describe('doctor, for programs', () => {
  test('gives one JSON array also when it finds a fault', async ({ json }) => {
    const { status, value, notes, error } = await json('doctor');
    expect(status).toBe(1);
    expect(value).toEqual(
      expect.arrayContaining([{ check: 'schema', state: 'ok', detail: 'that of this release' }]),
    );
    expect(notes).toHaveLength(1);
    expect(error).toBeUndefined();
  });
});
