import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { hashKey } from '../../src/keys/key-format.ts';
import { lookUpKey } from '../../src/keys/key-lookup-store.ts';
import { commandLine } from './command-line.ts';
import { test } from './fixtures.ts';

test.beforeAll(async ({ run }) => {
  await run('company', 'create', 'acme');
  await run('company', 'create', 'globex');
});

const unknown = 'There is no such key. List them with: tallystick key list';
const someId = '0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55';

describe('key create', () => {
  test('shows the key once, and says so', async ({ db, run }) => {
    const { status, out, err } = await run('key', 'create', '--company', 'acme', '--label', 'website');
    expect(status).toBe(0);
    const key = /^key +(tk_test_[0-9A-Za-z]{36})$/m.exec(out)?.[1] ?? '';
    expect(err).toBe('Keep the key now: it is stored as a hash only.\n');
    expect(
      await db('api_keys')
        .where({ hash: hashKey(key) })
        .pluck('label'),
    ).toEqual(['website']);
    const later = [
      await run('key', 'list'),
      await run('key', 'list', '--json'),
      await run('key', 'show', key),
      await run('key', 'revoke', key),
    ];
    for (const { status, out, err } of later) {
      expect(status).toBe(0);
      expect(out + err).not.toContain(key);
    }
  });

  test('makes a key without a company, without a limit and without an end unless told', async ({ json }) => {
    const { value } = await json('key', 'create');
    expect(value).toMatchObject({
      companyId: null,
      label: 'unnamed',
      rateLimit: null,
      expiresAt: null,
      state: 'active',
    });
  });

  test('limits a key for browsers to blockchain data, and says where it works', async ({ json, run }) => {
    const { value, notes } = await json('key', 'create', '--label', 'page', '--browser');
    expect(value).toMatchObject({ scopes: ['chain:read'] });
    expect(notes.join()).toContain('BROWSER_ORIGINS is not set');
    const same = await json('key', 'create', '--browser', '--scope', 'chain:read');
    expect(same.value).toMatchObject({ scopes: ['chain:read'] });
    const { status, err } = await run('key', 'create', '--browser', '--scope', 'events:read');
    expect([status, err]).toEqual([2, expect.stringContaining('has the scope chain:read only')]);
  });

  test('makes a key for one event of its company, whose scope stays and which a rotation keeps', async ({
    db,
    json,
    run,
  }) => {
    const companyId = (await db('companies').where({ name: 'acme' }).first('id')).id;
    const [event] = await db('events').insert({ company_id: companyId, name: 'Fair' }, 'id');
    const args = ['--scope', 'events:checkin', '--event', event.id.toUpperCase(), '--expires', '2099-09-20'];
    const { value } = await json('key', 'create', ...args);
    const bound = { companyId, eventId: event.id, scopes: ['events:checkin'] };
    expect(value).toMatchObject(bound);
    expect((await json('key', 'create', '--company', 'acme', '--event', event.id)).value).toMatchObject(
      bound,
    );
    const id = String(value?.id);
    const scope = await run('key', 'scope', id, '--all');
    expect([scope.status, scope.err]).toEqual([2, expect.stringContaining('the scope events:checkin only')]);
    expect((await json('key', 'rotate', id, '--overlap', '0')).value).toMatchObject(bound);
    expect((await lookUpKey(db, hashKey(String(value?.key)), 5_000))?.caller).toMatchObject({
      eventId: event.id,
    });
  });

  test.for([
    [['--event', someId], `There is no event ${someId}.`],
    [['--event', 'x'], 'There is no event x.'],
    [['--event', someId, '--scope', 'events:read'], 'has the scope events:checkin only'],
    [['--event', someId, '--browser'], 'not both'],
  ] as const)('rejects %j', async ([args, message], { run }) => {
    const { status, err } = await run('key', 'create', ...args);
    expect([status, err]).toEqual([2, expect.stringContaining(message)]);
  });

  test('rejects an event of another company', async ({ db, run }) => {
    const companyId = (await db('companies').where({ name: 'globex' }).first('id')).id;
    const [event] = await db('events').insert({ company_id: companyId, name: 'Fair' }, 'id');
    const { status, err } = await run('key', 'create', '--company', 'acme', '--event', event.id);
    expect([status, err]).toEqual([2, expect.stringContaining('of this company')]);
  });

  test('limits it to scopes, each once, which lists show', async ({ json, run }) => {
    const args = ['--scope', 'events:read', '--scope', 'rwa:mint', '--scope', 'events:read'];
    const { value } = await json('key', 'create', '--label', 'scoped', ...args);
    expect(value).toMatchObject({ scopes: ['events:read', 'rwa:mint'] });
    expect((await run('key', 'show', String(value?.id))).out).toMatch(/^scopes +events:read, rwa:mint$/m);
    expect((await run('key', 'list')).out).toContain('events:read, rwa:mint');
    expect((await json('key', 'create')).value).toMatchObject({ scopes: null });
  });

  test.for([
    [['--rate', '20'], { perSecond: 20, burst: 40 }],
    [['--rate', '20', '--burst', '20'], { perSecond: 20, burst: 20 }],
  ] as const)('gives it a limit of its own with %j', async ([args, rateLimit], { json }) => {
    expect((await json('key', 'create', ...args)).value).toMatchObject({ rateLimit });
  });

  test.for([
    ['2100-01-31', '2100-01-31T00:00:00.000Z'],
    ['2100-01-31T12:00:00+02:00', '2100-01-31T10:00:00.000Z'],
  ] as const)('lets it end at %s', async ([expires, expiresAt], { json }) => {
    expect((await json('key', 'create', '--expires', expires)).value).toMatchObject({ expiresAt });
  });

  test.for([
    [['--burst', '5'], '--burst needs --rate.'],
    [['--rate', '20', '--burst', '5'], '--burst must not be below --rate.'],
    [['--rate', '0'], 'whole number from 1 to 1000000'],
    [['--rate', '1e3'], 'whole number from 1 to 1000000'],
    [['--expires', '2001-01-31'], '--expires is past.'],
    [['--expires', '2100-02-30'], 'It must be a date'],
    [['--expires', '2100-01-31T12:00'], 'It must be a date'],
    [['--label', ' '], 'must not be empty'],
    [
      ['--scope', 'events:delete'],
      'The scopes are chain:read, events:read, events:write, events:checkin, rwa:read, rwa:write, rwa:mint, secrets:read, news:manage.',
    ],
    [['--company', 'nobody'], 'There is no company "nobody"'],
  ] as const)('refuses %j', async ([args, message], { json }) => {
    const { status, value, error } = await json('key', 'create', ...args);
    expect({ status, value }).toEqual({ status: 2, value: undefined });
    expect(error?.message).toContain(message);
  });

  test('warns where the service asks someone else about keys', async ({ settings }) => {
    const remote = {
      KEY_VERIFIER: 'remote',
      AUTH_URL: 'https://auth.example/verify',
      AUTH_CREDENTIAL: 'not-to-be-seen',
    };
    const { status, out, err } = await commandLine({ ...settings, ...remote }).run('key', 'create');
    expect(status).toBe(0);
    expect(err).toContain('KEY_VERIFIER is remote: a service with these settings does not accept this key.');
    expect(out + err).not.toContain('not-to-be-seen');
  });
});

describe('key list', () => {
  test('shows every key by its first characters, oldest first', async ({ run }) => {
    const { out } = await run('key', 'list');
    expect(out.split('\n')[0]).toMatch(
      /^ID +KEY +COMPANY +LABEL +SCOPES +EVENT +STATE +CREATED +EXPIRES +LAST USED$/,
    );
    expect(out.split('\n')[1]).toMatch(/tk_test_\w{4}… +acme +website +- +- +revoked +20\S+Z +- +-$/);
  });

  test('shows those of one company', async ({ run, json }) => {
    await json('key', 'create', '--company', 'globex');
    const { value } = await json('key', 'list', '--company', 'globex');
    expect(value).toMatchObject([{ companyName: 'globex', state: 'active' }]);
    expect((await run('key', 'list', '--company', 'nobody')).status).toBe(2);
  });

  test('says when there are more, and goes on after one of them', async ({ json }) => {
    const { value: all, notes } = await json('key', 'list');
    expect(notes).toEqual([]);
    const first = await json('key', 'list', '--limit', '2');
    expect(first.value).toEqual(all.slice(0, 2));
    expect(first.notes).toEqual([`There are more: add --after ${all[1].id}`]);
    expect((await json('key', 'list', '--after', all[1].id)).value).toEqual(all.slice(2));
    const own = await json('key', 'list', '--company', 'globex', '--after', all[0].id);
    expect(own.value).toMatchObject([{ companyName: 'globex' }]);
    for (const bad of [
      ['--after', someId],
      ['--limit', '0'],
    ])
      expect((await json('key', 'list', ...bad)).status).toBe(2);
  });
});

describe('key revoke', () => {
  test.for(['id', 'key'] as const)('ends a key for good by its %s', async (by, { json }) => {
    const { value } = await json('key', 'create');
    const revoked = await json('key', 'revoke', value[by]);
    expect(revoked.value).toMatchObject({ id: value.id, state: 'revoked' });
    const again = await json('key', 'revoke', value[by]);
    expect(again.value.revokedAt).toBe(revoked.value.revokedAt);
    const expired = await json('key', 'expire', value.id, '--at', 'never');
    expect(expired).toMatchObject({
      status: 2,
      error: { message: 'This key is revoked, and that is for good.' },
    });
  });
});

describe('key rotate', () => {
  const limits = ['--rate', '7', '--burst', '9', '--scope', 'rwa:read', '--scope', 'events:read'];
  const verdict = async (db: Database, key: string) => (await lookUpKey(db, hashKey(key), 5_000))?.usable;

  test.for([
    ['0', 0],
    ['1h', 3_600],
    ['24h', 86_400],
    ['7d', 604_800],
  ] as const)(
    'makes a key like the old one, which ends after %s',
    async ([overlap, seconds], { json, db }) => {
      const { value: old } = await json('key', 'create', '--company', 'acme', '--label', 'web', ...limits);
      const before = Date.now();
      const { value: made, notes } = await json('key', 'rotate', old.id, '--overlap', overlap);
      const after = Date.now();
      for (const field of ['companyId', 'companyName', 'label', 'scopes', 'rateLimit', 'expiresAt'])
        expect([field, made[field]]).toEqual([field, old[field]]);
      expect(made.id).not.toBe(old.id);
      expect(made.key).toMatch(/^tk_test_[0-9A-Za-z]{36}$/);
      const { value: ended } = await json('key', 'show', old.id);
      const end = Date.parse(ended.expiresAt) - seconds * 1_000;
      // The clocks of the database and of the test are those of one machine, but not read at one moment.
      expect(end).toBeGreaterThan(before - 1_000);
      expect(end).toBeLessThan(after + 1_000);
      expect(notes).toEqual([
        'Keep the key now: it is stored as a hash only.',
        `The old key ${old.id} ends at ${ended.expiresAt}.`,
      ]);
      expect([await verdict(db, made.key), await verdict(db, old.key)]).toEqual([true, seconds > 0]);
      const entries = await db('audit_log').where({ action: 'key.rotate', subject: old.id });
      expect(entries).toMatchObject([
        { company_id: old.companyId, details: { overlap, successor: made.id }, actor_kind: 'operator' },
      ]);
      expect(JSON.stringify(entries)).not.toContain(made.key);
    },
  );

  test('never lets the old key live longer, and keeps its end for the new one', async ({ json }) => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const { value: old } = await json('key', 'create', '--expires', soon);
    const { value: made } = await json('key', 'rotate', old.key, '--overlap', '7d');
    expect([made.expiresAt, (await json('key', 'show', old.id)).value.expiresAt]).toEqual([soon, soon]);
  });

  test('makes no key in place of one that has ended', async ({ json }) => {
    const { value: revoked } = await json('key', 'create');
    await json('key', 'revoke', revoked.id);
    const { value: expired } = await json('key', 'create');
    await json('key', 'expire', expired.id, '--at', '2020-01-01');
    const { value: before } = await json('key', 'list');
    for (const [key, state] of [
      [revoked.id, 'revoked'],
      [expired.id, 'expired'],
    ]) {
      const { status, error } = await json('key', 'rotate', key, '--overlap', '1h');
      expect([status, error?.message]).toEqual([
        2,
        `This key is ${state}. Create a new one with: tallystick key create`,
      ]);
    }
    expect((await json('key', 'list')).value).toEqual(before);
  });

  test.for([[[]], [['--overlap', '2h']], [['--overlap', '-1']]] as const)(
    'takes one of the four overlaps, not %j',
    async ([args], { run }) => {
      expect((await run('key', 'rotate', someId, ...args)).status).toBe(2);
    },
  );
});

describe('key expire', () => {
  test('sets and takes away when a key ends', async ({ run, json }) => {
    const { value } = await json('key', 'create');
    const ended = await json('key', 'expire', value.id, '--at', '2020-01-01');
    expect(ended.value).toMatchObject({ state: 'expired', expiresAt: '2020-01-01T00:00:00.000Z' });
    const open = await json('key', 'expire', value.key, '--at', 'never');
    expect(open.value).toMatchObject({ state: 'active', expiresAt: null });
    expect((await run('key', 'expire', value.id)).err).toContain('--at');
  });
});

describe('key limit', () => {
  test('gives a key a limit of its own, and the default again', async ({ json }) => {
    const { value } = await json('key', 'create');
    const limited = await json('key', 'limit', value.id, '--rate', '7');
    expect(limited.value).toMatchObject({ rateLimit: { perSecond: 7, burst: 14 } });
    const usual = await json('key', 'limit', value.id, '--default');
    expect(usual.value).toMatchObject({ rateLimit: null });
  });

  test.for([[[]], [['--default', '--rate', '5']]] as const)(
    'wants one of both, not %j',
    async ([args], { json }) => {
      const { status, error } = await json('key', 'limit', someId, ...args);
      expect(status).toBe(2);
      expect(error?.message).toBe('Give either --rate or --default.');
    },
  );
});

describe('key scope', () => {
  test.for(['id', 'key'] as const)(
    'sets the scopes of a key by its %s, and takes them away',
    async (by, { json, db }) => {
      const { value } = await json('key', 'create', '--company', 'acme', '--scope', 'rwa:mint');
      const limits = ['--scope', 'events:read', '--scope', 'rwa:read'];
      const limited = await json('key', 'scope', value[by], ...limits);
      expect(limited.value).toMatchObject({ id: value.id, scopes: ['events:read', 'rwa:read'] });
      const { value: open } = await json('key', 'scope', value[by], '--all');
      expect(open).toMatchObject({ id: value.id, scopes: null });
      const entries = await db('audit_log').where({ action: 'key.scope', subject: value.id }).orderBy('id');
      expect(entries).toMatchObject([
        {
          company_id: value.companyId,
          details: { scopes: ['events:read', 'rwa:read'] },
          actor_kind: 'operator',
        },
        { company_id: value.companyId, details: { scopes: null }, actor_kind: 'operator' },
      ]);
    },
  );

  test.for([
    [[], 'Give either --scope or --all.'],
    [['--all', '--scope', 'rwa:read'], 'Give either --scope or --all.'],
    [['--scope', 'events:delete'], 'The scopes are chain:read'],
  ] as const)('rejects %j', async ([args, message], { json }) => {
    const { status, error } = await json('key', 'scope', someId, ...args);
    expect([status, error?.message]).toEqual([2, expect.stringContaining(message)]);
  });

  test('rejects a revoked key', async ({ json }) => {
    const { value } = await json('key', 'create');
    await json('key', 'revoke', value.id);
    const { status, error } = await json('key', 'scope', value.id, '--all');
    expect([status, error?.message]).toEqual([2, 'This key is revoked, and that is for good.']);
  });

  test.for([
    ['better-auth', 'Better Auth'],
    ['unkey', 'Unkey'],
  ] as const)('says where the permissions of keys of %s are', async ([dialect, name], { settings }) => {
    const remote = {
      KEY_VERIFIER: 'remote',
      AUTH_DIALECT: dialect,
      AUTH_URL: 'https://auth.example/verify',
      AUTH_CREDENTIAL: 'not-to-be-seen',
    };
    const { status, err } = await commandLine({ ...settings, ...remote }).run(
      'key',
      'scope',
      'key_1',
      '--all',
    );
    expect([status, err]).toEqual([
      2,
      `KEY_VERIFIER is remote: the permissions of a key in ${name} are its scopes. Change them there.\n`,
    ]);
  });
});

describe('a key that nobody has', () => {
  test.for([
    ['show', someId],
    ['show', 'tk_test_nonsense'],
    ['revoke', 'x'],
    ['expire', someId, '--at', 'never'],
    ['limit', someId, '--default'],
    ['scope', someId, '--all'],
    ['rotate', someId, '--overlap', '1h'],
    ['rotate', 'x', '--overlap', '0'],
  ] as const)('key %s %s says how to find one', async ([...args], { run }) => {
    expect(await run('key', ...args)).toEqual({ status: 2, out: '', err: `${unknown}\n` });
  });
});
