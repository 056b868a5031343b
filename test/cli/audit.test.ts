import { createHash } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createAuditJob } from '../../src/compose/audit-job.ts';
import { chainAudit, verifyAudit } from '../../src/db/records/audit-chain-store.ts';
import { recordAudit } from '../../src/db/records/audit-store.ts';
import { addCompany, addNetwork, addNft, addRwa, markMinted, vaultOf } from '../rwa/samples.ts';
import { asUser } from '../support/database.ts';
import { rowsReadBy } from '../support/statements.ts';
import { commandLine, settingsFor } from './command-line.ts';
import { test } from './fixtures.ts';

const by = { kind: 'key', keyId: 'key', address: '192.0.2.7', requestId: 'request' } as const;
const entryOf = (subject: string) => ({ action: 'test', companyId: 'acme', subject, details: { n: 1 }, by });
const fill = (db: Knex, count: number) =>
  recordAudit(
    db,
    Array.from({ length: count }, (_, index) => entryOf(String(index))),
  );
/** As somebody does who may do anything in the database. */
const tamper = (db: Knex, sql: string) =>
  db.transaction(async (tx) => {
    await tx.raw("SET LOCAL session_replication_role = 'replica'");
    await tx.raw(sql);
  });
const vault = vaultOf(['first'], new Map([['first', Buffer.alloc(32, 1)]]));

describe('an operator', () => {
  test('leaves an entry with every change and every secret that was shown', async ({ db, json, run }) => {
    await addNetwork(db);
    const told = async (...args: string[]) => {
      const { value, status, error } = await json(...args);
      expect([args.join(' '), status, error]).toEqual([args.join(' '), 0, undefined]);
      return value;
    };
    const company = await told('company', 'create', 'acme');
    await told('company', 'update', 'acme', '--claim-url', 'https://acme.example/claim');
    await told('company', 'limit', 'acme', '--mints-per-day', '5');
    const key = await told('key', 'create', '--company', 'acme', '--label', 'web');
    await told('key', 'limit', key.id, '--rate', '5', '--burst', '5');
    await told('key', 'expire', key.id, '--at', 'never');
    await told('key', 'revoke', key.id);
    await told('network', 'update', '31337', '--confirmations', '2', '--finality', '9');
    const rwa = await addRwa(db, company.id);
    const nft = await addNft(db, vault, rwa);
    await told('rwa', 'reissue-secret', nft.id);
    await run('rwa', 'export', rwa.id);
    await told('rwa', 'rotate-secrets');
    await db('mint_lanes').insert({ chain_id: 31337, signer: `0x${'1'.repeat(40)}` });
    await told('mint', 'pause');
    await told('mint', 'resume', '--chain', '31337');
    await told('index', 'reset', '31337', '--yes');
    await told('network', 'seal');

    const entries = await told('audit', 'list');
    expect(entries.map(({ action }: { action: string }) => action).toReversed()).toEqual([
      ...[
        'company.create',
        'company.update',
        'company.limit',
        'key.create',
        'key.limit',
        'key.expire',
        'key.revoke',
      ],
      ...['network.update', 'rwa.reissue_secret', 'rwa.export', 'rwa.rotate_secrets'],
      ...['mint.pause', 'mint.resume', 'index.reset'],
    ]);
    expect(entries.at(-1)).toMatchObject({
      actorKind: 'operator',
      actor: userInfo().username,
      origin: `${hostname()}:${process.pid}`,
      companyId: company.id,
      subject: company.id,
      details: { name: 'acme' },
    });
    expect(JSON.stringify(entries)).not.toContain(key.key);
    expect(JSON.stringify(entries)).not.toContain(vault.open(nft.id, nft.sealed));
  });

  test('who changes nothing leaves none', async ({ db, json }) => {
    const before = await db('audit_log').count();
    expect((await json('key', 'revoke', 'nothing')).status).toBe(2);
    expect((await json('company', 'create', 'acme')).status).toBe(2);
    expect((await json('mint', 'retry', 'nothing')).status).toBe(2);
    expect(await db('audit_log').count()).toEqual(before);
  });

  test('finds entries by company, action and time, page by page', async ({ json }) => {
    const list = async (...args: string[]) => (await json('audit', 'list', ...args)).value;
    const keys = await list('--company', 'acme', '--action', 'key.create');
    expect(keys).toHaveLength(1);
    expect(await list('--subject', keys[0].subject, '--actor', keys[0].actor)).toHaveLength(4);
    expect(await list('--until', '2020-01-01')).toEqual([]);
    const [first, second, third] = await list('--limit', '3');
    expect(await list('--limit', '2', '--before', first.id)).toEqual([second, third]);
  });
});

describe('the log', () => {
  test('refuses every change, whoever asks', async ({ db }) => {
    for (const sql of ['UPDATE audit_log SET actor = 1', 'DELETE FROM audit_log', 'TRUNCATE audit_log'])
      await expect(db.raw(sql)).rejects.toThrow('the audit log is append-only');
    for (const sql of [
      'UPDATE audit_chain SET entry_id = 1',
      'DELETE FROM audit_chain',
      'TRUNCATE audit_chain',
    ])
      await expect(db.raw(sql)).rejects.toThrow('the audit log is append-only');
  });

  test('is one chain, however many write and chain at once', async ({ db }) => {
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; round < 10; round += 1) {
        await db.transaction((tx) => recordAudit(tx, [entryOf(`${writer} ${round}`)]));
        if (round % 3 === 0) await chainAudit(db);
      }
    });
    await Promise.all(writers);
    while ((await chainAudit(db)) > 0);
    const [{ count } = {}] = await db('audit_log').count();
    const { head, faults } = await verifyAudit(db);
    expect([head.position, faults]).toEqual([BigInt(count ?? 0), []]);
  });

  test('takes an entry that was committed after later ones', async ({ db }) => {
    const late = await db.transaction();
    await recordAudit(late, [entryOf('late')]);
    await fill(db, 3);
    expect(await chainAudit(db)).toBe(3);
    await late.commit();
    expect(await chainAudit(db)).toBe(1);
    expect((await verifyAudit(db)).faults).toEqual([]);
  });

  test('takes it however long nothing was chained since', async ({ otherDatabase: { db } }) => {
    // As if the clock of the database was a day behind until now.
    const insert = (subject: string) =>
      tamper(
        db,
        `INSERT INTO audit_log (at, actor_kind, actor, origin, action, subject)
         VALUES (clock_timestamp() - interval '1 day', 'key', 'k', 'o', 'test', '${subject}')`,
      );
    await chainAudit(db);
    await insert('late');
    await insert('later');
    const [{ id: late } = {}] = await db('audit_log').where({ subject: 'late' }).orderBy('id', 'desc');
    const row = await db('audit_log').where({ id: late }).first();
    await tamper(db, `DELETE FROM audit_log WHERE id = ${late}`);
    expect(await chainAudit(db)).toBe(1);
    await tamper(
      db,
      `INSERT INTO audit_log (id, at, actor_kind, actor, origin, action, subject) OVERRIDING SYSTEM VALUE
       VALUES (${late}, '${row?.at.toISOString()}', 'key', 'k', 'o', 'test', 'late')`,
    );
    expect(await chainAudit(db)).toBe(1);
    expect((await verifyAudit(db)).faults).toEqual([]);
  });

  test('reads what is not chained, however much is', async ({ otherDatabase: { db } }) => {
    await tamper(
      db,
      `INSERT INTO audit_log (at, actor_kind, actor, origin, action)
       SELECT now() - interval '1 day' + n * interval '1 second', 'key', 'k', 'o', 'test' FROM generate_series(1, 20000) n`,
    );
    while ((await chainAudit(db)) > 0);
    await db.raw('ANALYZE audit_log, audit_chain');
    await fill(db, 5);
    expect(await rowsReadBy(db, 'audit_log', () => chainAudit(db))).toBeLessThan(2_000);
  });

  test('is read and verified to the end with a head that can be noted', async ({ db, json }) => {
    const { status, value } = await json('audit', 'verify');
    expect([status, value.faults]).toEqual([0, []]);
    await fill(db, 5);
    const next = await json('audit', 'verify', '--noted', value.head);
    expect(next).toMatchObject({ status: 0, value: { chained: 5 } });
    expect(next.notes[0]).toMatch(/^5 entries were chained just now\./);
    const again = await json('audit', 'verify');
    expect([again.value.chained, again.notes.length]).toEqual([0, 1]);
    const other = `${value.head.split(':')[0]}:${createHash('sha256').digest('hex')}`;
    expect((await json('audit', 'verify', '--noted', other)).value.faults).toMatchObject([
      { kind: 'other head' },
    ]);
  });

  const damages = [
    ['an altered entry', "UPDATE audit_log SET actor = 'somebody else' WHERE id = 5", 'altered'],
    ['an entry that was taken out', 'DELETE FROM audit_log WHERE id = 7', 'missing entry'],
    ['a link that was taken out', 'DELETE FROM audit_chain WHERE position = 9', 'missing link'],
    [
      'an old entry that was put in',
      "INSERT INTO audit_log (id, at, actor_kind, actor, origin, action) OVERRIDING SYSTEM VALUE VALUES (-1, now() - interval '1 day', 'key', 'k', 'o', 'a')",
      'not chained',
    ],
  ] as const;
  test.for(damages)('shows %s', async ([, sql, kind], { db, json }) => {
    await tamper(db, sql);
    const { status, value } = await json('audit', 'verify');
    // Everything after a damaged entry stands on the stored hash, so one fault stays one.
    expect(value.faults).toContainEqual(expect.objectContaining({ kind }));
    expect(status).toBe(1);
  });

  test('shows an entry that is dated long before its predecessor, and none that was committed late', async ({
    otherDatabase: { db },
  }) => {
    const insert = (minutes: number) =>
      tamper(
        db,
        `INSERT INTO audit_log (at, actor_kind, actor, origin, action)
         VALUES (clock_timestamp() - interval '${minutes} minutes', 'key', 'k', 'o', 'test')`,
      );
    while ((await chainAudit(db)) > 0);
    const { faults: before } = await verifyAudit(db);
    await fill(db, 1);
    await chainAudit(db);
    await insert(14);
    await chainAudit(db);
    expect((await verifyAudit(db)).faults).toEqual(before);
    await fill(db, 1);
    await insert(16);
    await chainAudit(db);
    await fill(db, 1);
    await chainAudit(db);
    const { faults } = await verifyAudit(db);
    const dated = await db('audit_log').orderBy('id', 'desc').limit(2).pluck('id');
    expect(faults.slice(before.length)).toEqual([
      { kind: 'backdated', position: expect.any(String), entryId: dated[1] },
    ]);
  });

  test('has its head logged by the worker at once and then once an hour', async ({
    otherDatabase: { db },
  }) => {
    const lines: string[] = [];
    const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
    let minutes = 0;
    const run = createAuditJob({ db, log }, () => minutes * 60_000);
    for (; minutes <= 120; minutes += 1) {
      await fill(db, 1);
      await run();
    }
    const heads = lines.map((line) => JSON.parse(line));
    expect(heads.map(({ msg }) => msg)).toEqual(Array(3).fill('head of the audit chain'));
    const positions = heads.map(({ head }) => Number(/^(\d+):[0-9a-f]{64}$/.exec(head)?.[1]));
    expect(positions.map((each) => each - (positions[0] ?? 0))).toEqual([0, 60, 120]);
  });

  test('shows an end that was cut off, edited and chained again, by a head that was logged', async ({
    otherDatabase: { db, url },
  }) => {
    const { json } = commandLine(settingsFor(asUser(url, 'test_operator')));
    const lines: string[] = [];
    const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
    await fill(db, 9);
    await createAuditJob({ db, log })();
    const { head } = JSON.parse(lines[0] ?? '');
    const before = (await json('audit', 'verify', '--noted', head)).value.faults;

    const last: string = (await db('audit_log').max('id'))[0]?.['max'];
    await tamper(
      db,
      `DELETE FROM audit_chain WHERE entry_id > ${last} - 5; DELETE FROM audit_log WHERE id > ${last} - 4;
       UPDATE audit_log SET actor = 'somebody else' WHERE id = ${last} - 4`,
    );
    await fill(db, 20);
    // Whatever is there was chained again, so the chain as such is sound.
    const sound = await json('audit', 'verify');
    expect(sound.value).toMatchObject({ chained: 21, faults: before });
    const shown = (await json('audit', 'verify', '--noted', head)).value.faults;
    expect(shown).toEqual([...before, { kind: 'other head', position: head.split(':')[0], entryId: null }]);
  });

  test('shows that its end was cut off, to whoever has noted a head', async ({ db, json }) => {
    const { head } = (await json('audit', 'verify')).value;
    await tamper(db, 'DELETE FROM audit_chain WHERE position > 20; DELETE FROM audit_log WHERE id > 20');
    const { faults } = (await json('audit', 'verify', '--noted', head)).value;
    expect(faults).toContainEqual(expect.objectContaining({ kind: 'other head' }));
  });
});

test('a minted NFT gets no new secret', async ({ db, json }) => {
  await addCompany(db, 'other');
  const nft = await addNft(db, vault, await addRwa(db, 'other'));
  await markMinted(db, nft.id);
  const { status, error } = await json('rwa', 'reissue-secret', nft.id);
  expect([status, error?.message]).toEqual([
    2,
    `NFT ${nft.id} is minted: a claim secret opens nothing any more. Nothing was changed.`,
  ]);
});

describe('index reset', () => {
  test('asks first, and does nothing where nobody answers yes', async ({ db, run, settings }) => {
    const before = await db('audit_log').where({ action: 'index.reset' }).count();
    expect((await run('index', 'reset', '31337')).err).toContain('add --yes');
    const no = await commandLine(settings, { answer: 'y' }).run('index', 'reset', '31337');
    expect([no.status, no.err]).toEqual([2, expect.stringContaining('Nothing was done.')]);
    expect(await db('audit_log').where({ action: 'index.reset' }).count()).toEqual(before);
    expect((await commandLine(settings, { answer: 'yes' }).run('index', 'reset', '31337')).status).toBe(0);
  });
});
