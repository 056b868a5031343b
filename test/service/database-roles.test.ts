import type { Knex } from 'knex';
import { describe, expect, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import {
  appendOnly,
  databaseRoles,
  groupOf,
  privilegesOn,
  tableRights,
  updatable,
} from '../../src/db/schema/role-rights.ts';
import { isTemporaryForAll } from '../../src/db/schema/role-store.ts';
import { startService } from '../../src/service/service.ts';
import { commandLine, settingsFor } from '../cli/command-line.ts';
import { addCompany, addNetwork, addNft, addRwa, serviceVault } from '../rwa/samples.ts';
import { asUser, type Login } from '../support/database.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { startPostgres } from '../support/postgres.ts';

const log = createLogger({ level: 'silent' });

const test = base.extend('as', perFile, ({ databaseUrl }, { onCleanup }) => {
  const opened = new Map<Login, Knex>();
  onCleanup(async () => {
    for (const db of opened.values()) await db.destroy();
  });
  return (user: Login): Knex => {
    const db = opened.get(user) ?? createDatabase(asUser(databaseUrl, user), { poolMax: 1, log });
    opened.set(user, db);
    return db;
  };
});

const refused = /permission denied|must be owner/;
type ColumnRow = { readonly table: string; readonly column: string; readonly may: boolean };

const rightsOf = (
  group: string,
) => `SELECT table_name, privilege_type FROM information_schema.role_table_grants
  WHERE grantee = '${group}' AND table_schema = 'public'`;

describe('the database users of roles', () => {
  test('are thought of with every table and view', async ({ db }) => {
    const tables: string[] = await db('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
    const views: string[] = await db('pg_views').where({ schemaname: 'public' }).pluck('viewname');
    expect(Object.keys(tableRights).sort()).toEqual([...tables, ...views].sort());
  });

  test.for(databaseRoles)('may do what is written down, and no more: %s', async (role, { db }) => {
    const { rows } = await db.raw(rightsOf(groupOf(role)));
    const found = rows
      .map((row: Record<string, string>) => `${row['table_name']} ${row['privilege_type']}`)
      // Of all columns, or of some: see below.
      .filter((right: string) => !right.endsWith(' UPDATE'));
    const wanted = Object.keys(tableRights).flatMap((table) =>
      privilegesOn(table, role).flatMap((privilege) =>
        privilege === 'UPDATE' ? [] : [`${table} ${privilege}`],
      ),
    );
    expect(found.sort()).toEqual(wanted.sort());
  });

  test.for(databaseRoles)('may update the columns that are written down: %s', async (role, { db }) => {
    const { rows } = await db.raw(
      `SELECT c.table_name AS table, c.column_name AS column, g.grantee IS NOT NULL AS may
       FROM information_schema.columns c LEFT JOIN information_schema.role_column_grants g
         ON g.table_schema = c.table_schema AND g.table_name = c.table_name AND g.column_name = c.column_name
           AND g.grantee = ? AND g.privilege_type = 'UPDATE'
       WHERE c.table_schema = 'public' ORDER BY c.table_name, c.ordinal_position`,
      [groupOf(role)],
    );
    const byTable = Map.groupBy(rows as ColumnRow[], ({ table }) => table);
    expect([...byTable.keys()].toSorted()).toEqual(Object.keys(tableRights).toSorted());
    for (const [table, columns] of byTable) {
      const may = columns.flatMap((each) => (each.may ? [each.column] : []));
      const all = columns.map(({ column }) => column);
      expect([table, may]).toEqual([table, updatable(table, role, all)]);
      // A row stays with its company.
      if (role !== 'operator')
        expect([table, may]).toEqual([table, expect.not.arrayContaining(['company_id'])]);
    }
  });

  test('find no table of their own in a function that has the rights of the owner', async ({ db }) => {
    const { rows } = await db.raw(`
      SELECT proname, array_to_string(proconfig, ' ') AS settings, array_to_string(proacl, ' ') AS rights FROM pg_proc
      WHERE prosecdef AND pronamespace = current_schema()::regnamespace ORDER BY proname`);
    expect(rows.map(({ proname }: { proname: string }) => proname)).toEqual([
      'delete_attendees',
      'purge_attendees',
      'revoke_tickets',
      'take_back_tokens',
      'unclaim_ended_nfts',
      'write_attendee_news',
      'write_checkin_news',
      'write_checkin_scans',
      'write_event_news',
      'write_nft_news',
      'write_waiting_transfer_news',
    ]);
    for (const { settings, rights } of rows) {
      expect(settings).toMatch(/^search_path=public, pg_temp( enable_\w+=off)*$/);
      // Nobody is everybody.
      expect(rights).not.toMatch(/(^| )=X/);
    }
  });

  test.for<[Login, string]>([
    ['test_api', 'CREATE TABLE of_mine (id int)'],
    ['test_api', 'ALTER TABLE nfts DISABLE TRIGGER ALL'],
    ['test_api', 'DELETE FROM nfts'],
    ['test_api', 'UPDATE api_keys SET company_id = NULL'],
    ['test_api', 'UPDATE api_keys SET scopes = NULL'],
    ['test_api', 'UPDATE api_keys SET expires_at = NULL'],
    ['test_api', "UPDATE networks SET rpc_urls = '{}'"],
    ['test_api', 'UPDATE nfts SET minted_tx = NULL'],
    ['test_api', 'UPDATE nfts SET token_id = 1'],
    ['test_api', 'UPDATE nfts SET secret_cipher = NULL'],
    ['test_api', 'UPDATE rwas SET claimed_nfts = 0'],
    ['test_api', 'UPDATE companies SET treasury_address = NULL'],
    ['test_worker', 'UPDATE companies SET treasury_address = NULL'],
    ['test_worker', "INSERT INTO companies (id, name) VALUES ('x', 'x')"],
    ['test_worker', 'DELETE FROM companies'],
    ['test_worker', 'UPDATE nfts SET recipient = NULL'],
    ['test_worker', 'UPDATE nfts SET token_id = 1'],
    ['test_worker', 'UPDATE rwas SET contract_address = NULL'],
    ['test_api', 'SELECT FROM mint_attempts'],
    ['test_api', 'DELETE FROM wallet_history'],
    ['test_worker', 'SELECT FROM api_keys'],
    ['test_worker', 'SELECT FROM attendees'],
    ['test_worker', 'INSERT INTO nfts DEFAULT VALUES'],
    ['test_api', 'SELECT purge_attendees(1)'],
    ['test_indexer', 'SELECT purge_attendees(1)'],
    ['test_api', "SELECT unclaim_ended_nfts(gen_random_uuid(), '{}')"],
    ['test_indexer', "SELECT unclaim_ended_nfts(gen_random_uuid(), '{}')"],
    ['test_api', "SELECT take_back_tokens('{}')"],
    ['test_indexer', "SELECT take_back_tokens('{}')"],
    ['test_indexer', 'SELECT FROM nfts'],
    ['test_indexer', 'SELECT FROM companies'],
    ['test_indexer', 'SELECT FROM audit_log'],
    ['test_indexer', 'SELECT FROM pgboss.job'],
  ])('are refused the rest: %s', async ([user, statement], { as }) => {
    await expect(as(user).raw(statement)).rejects.toThrow(refused);
  });

  test.for(['test_api', 'test_worker', 'test_operator'] as const)(
    'may not change the audit log: %s',
    async (user, { as }) => {
      const statements = [...appendOnly].flatMap((table) => [`DELETE FROM ${table}`, `TRUNCATE ${table}`]);
      for (const statement of [...statements, "UPDATE audit_log SET actor = 'nobody'"]) {
        await expect(as(user).raw(statement)).rejects.toThrow(refused);
      }
    },
  );

  test.for(['test_api', 'test_worker', 'test_indexer', 'test_operator', 'test_minting'] as const)(
    'make no temporary table, in which a function could find what it does not look for: %s',
    async (user, { as }) => {
      await expect(as(user).raw('CREATE TEMPORARY TABLE nfts (id uuid)')).rejects.toThrow(
        /permission denied to create temporary tables/,
      );
    },
  );

  test('that serve callers only queue NFTs, and change nothing else of them', async ({
    otherDatabase: { db },
  }) => {
    await addNetwork(db);
    await addCompany(db, 'acme');
    const rwa = await addRwa(db, 'acme', { isClaimable: true });
    const accepted = { recipient: `0x${'1'.repeat(40)}`, mint_chain_id: '31337', queued_at: new Date() };
    const failed = { ...accepted, mint_error: 'no' };
    const minted = {
      ...accepted,
      minted_at: new Date(),
      minted_tx: `0x${'a'.repeat(64)}`,
      minted_block: '1',
    };
    const rowOf = { unclaimed: {}, queued: accepted, submitted: accepted, failed, minted };
    const states = ['unclaimed', 'queued', 'submitted', 'failed', 'minted'] as const;
    const rollback = new Error('as it was');
    /** What comes of an update of one NFT by a user. */
    const change = (user: Login, from: (typeof states)[number], values: object): Promise<string> =>
      db
        .transaction(async (tx) => {
          const nft = await addNft(tx, serviceVault, rwa);
          const row = () => tx('nfts').where({ id: nft.id });
          await row().update({ mint_state: from, ...rowOf[from] });
          await tx.raw(`SET LOCAL SESSION AUTHORIZATION ${user}`);
          await row().update(values);
          throw rollback;
        })
        .catch((error: unknown) => {
          if (error === rollback) return 'done';
          return String(error).includes('may only queue NFTs that are') ? 'refused' : String(error);
        });

    const done: string[] = [];
    for (const from of states) {
      for (const to of states) {
        const outcome = await change('test_api', from, { mint_state: to, ...accepted, mint_error: null });
        if (outcome !== 'refused') done.push(`${from} to ${to}: ${outcome}`);
      }
      // As of a mint that is under way, whose tokens would go to somebody else.
      const other = { recipient: `0x${'2'.repeat(40)}` };
      expect([from, await change('test_api', from, other)]).toEqual([from, 'refused']);
    }
    expect(done).toEqual(['unclaimed to queued: done', 'failed to queued: done']);
    // Who works as well, or repairs, goes on.
    for (const user of ['test_worker', 'test_minting', 'test_operator'] as const) {
      expect([user, await change(user, 'queued', { mint_state: 'submitted' })]).toEqual([user, 'done']);
    }
    const insert = db.transaction(async (tx) => {
      await tx.raw('SET LOCAL SESSION AUTHORIZATION test_api');
      await tx('nfts').insert({
        company_id: 'acme',
        rwa_id: rwa.id,
        rwa_number: rwa.number.toString(),
        serial: 1,
        token_id: '1',
        secret_cipher: Buffer.alloc(1),
        secret_key_id: 'test',
        mint_state: 'minted',
        ...minted,
      });
    });
    await expect(insert).rejects.toThrow('may only queue NFTs that are');
  });

  const entry = { actor_kind: 'key', actor: 'k', origin: '::1', action: 'event.create' };
  const operators = { ...entry, actor_kind: 'operator', actor: 'root' };

  test.for(['test_api', 'test_worker', 'test_operator'] as const)(
    'leave number, time and user of an audit entry to the database: %s',
    async (user, { as }) => {
      const log = () => as(user)('audit_log');
      await log().insert(entry);
      for (const forged of [{ at: new Date(0) }, { database_user: 'postgres' }]) {
        await expect(log().insert({ ...entry, ...forged })).rejects.toThrow(refused);
      }
      const withId = `INSERT INTO audit_log (id, actor_kind, actor, origin, action) OVERRIDING SYSTEM VALUE
        VALUES (1, 'key', 'k', '::1', 'event.create')`;
      await expect(as(user).raw(withId)).rejects.toThrow(refused);
    },
  );

  test('store an entry of an operator only where they are operators', async ({ as, db }) => {
    for (const user of ['test_api', 'test_worker', 'test_minting'] as const) {
      await expect(as(user)('audit_log').insert(operators)).rejects.toThrow('stores no entries of operators');
    }
    await as('test_operator')('audit_log').insert(operators);
    await db('audit_log').insert(operators);
  });
});

test.for(['api', 'worker', 'indexer'] as const)(
  'a process in one role starts with the user of that role: %s',
  async (role, { databaseUrl }) => {
    const settings = { ...settingsFor(asUser(databaseUrl, `test_${role}`)), ROLES: role };
    const lines: string[] = [];
    const told = createLogger({ level: 'error', destination: { write: (line) => lines.push(line) } });
    const quick = { HOST: '127.0.0.1', PORT: '0', DRAIN_SECONDS: '0' };
    const service = await startService(loadConfig({ ...settings, ...quick }), told);
    await service.stop();
    // What the user may not do is not tried, or nothing to complain of.
    expect(lines).toEqual([]);
  },
);

test('tallystick migrate tells a user who may not create groups what to ask for', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.close());
  const admin = createDatabase(server.url, { poolMax: 1, log });
  await admin.raw("CREATE ROLE owner LOGIN PASSWORD 'own'");
  await admin.raw('CREATE DATABASE owned OWNER owner');
  await admin.raw('CREATE DATABASE lent');
  await admin.raw('GRANT CREATE ON DATABASE lent TO owner');
  const url = new URL(server.url);
  Object.assign(url, { username: 'owner', password: 'own', pathname: '/owned' });
  const { run } = commandLine(settingsFor(url.href));

  const first = await run('migrate');
  expect(first.status).toBe(0);
  expect(first.err).toContain('let an administrator run: CREATE ROLE tallystick_api NOLOGIN;');

  const [, asked = ''] = first.err.match(/run: (CREATE ROLE .*?) Then run again/) ?? [];
  await admin.raw(asked);
  expect(await run('migrate')).toEqual({ status: 0, out: '(none)\n', err: 'The schema is current.\n' });
  const db = createDatabase(url.href, { poolMax: 1, log });
  const { rows } = await db.raw(rightsOf(groupOf('indexer')));
  expect(await isTemporaryForAll(db)).toBe(false);
  // The owner, who may import and repair, keeps the right.
  await db.raw('CREATE TEMPORARY TABLE of_owner (id int)');
  await db.destroy();
  expect(rows).toContainEqual({ table_name: 'wallet_history', privilege_type: 'INSERT' });

  // Of a database that is somebody else's.
  url.pathname = '/lent';
  const lent = createDatabase(Object.assign(new URL(server.url), { pathname: '/lent' }).href, {
    poolMax: 1,
    log,
  });
  await lent.raw('GRANT CREATE ON SCHEMA public TO owner');
  const elsewhere = commandLine(settingsFor(url.href));
  const revoke = 'REVOKE TEMPORARY ON DATABASE lent FROM PUBLIC;';
  expect(await elsewhere.run('migrate')).toMatchObject({
    status: 0,
    err: expect.stringContaining(`Let the owner of the database run: ${revoke}`),
  });
  expect((await elsewhere.run('doctor')).out).toMatch(
    /^warning +rights +everybody may make temporary tables/m,
  );
  await lent.raw(revoke);
  await lent.destroy();
  await admin.destroy();
  expect((await elsewhere.run('doctor')).out).toMatch(
    /^ok +rights +users of the roles may do what they need/m,
  );
});
