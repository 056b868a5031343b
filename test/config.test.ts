import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../src/config/config.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const least = {
  DATABASE_URL: 'postgres://u:p@host/db',
  SECRET_KEYS: `a:${key(1)}`,
  CURSOR_KEYS: `a:${key(3)}`,
};

const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
};

describe('the settings', () => {
  test('have defaults for all but what only the operator can know', () => {
    expect(loadConfig(least)).toMatchObject({
      PORT: 3000,
      AREAS: ['blockchain', 'events', 'rwa', 'claim', 'news'],
      RATE_LIMIT_BURST: 200,
    });
  });

  test('name a token list that cannot be read, or is none', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'token-list-'));
    const file = path.join(folder, 'list.json');
    const token = {
      chainId: 1,
      address: `0x${'AB'.repeat(20)}`,
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
    };
    const faultOf = async (text: string) => {
      await writeFile(file, text);
      return faultsOf({ ...least, INDEX_TOKEN_LIST: file });
    };
    try {
      expect(await faultOf(JSON.stringify({ name: 'Ours', tokens: [token] }))).toEqual([]);
      expect(await faultOf('{')).toEqual([`INDEX_TOKEN_LIST: cannot be read (it is no JSON) (is "${file}")`]);
      const [fault] = await faultOf(JSON.stringify({ tokens: [token, { ...token, address: '0x12' }] }));
      expect(fault).toMatch(
        /^INDEX_TOKEN_LIST: is no token list .*tokens\.1\.address must be an address \(is /,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
    expect(faultsOf({ ...least, INDEX_TOKEN_LIST: file })[0]).toContain('cannot be read (ENOENT)');
  });

  test('read lists of OpenTelemetry, and name what is none without its value', () => {
    const OTEL_EXPORTER_OTLP_HEADERS = 'authorization=Bearer%20a%2Cb, x-team=ops=1';
    expect(loadConfig({ ...least, OTEL_EXPORTER_OTLP_HEADERS }).OTEL_EXPORTER_OTLP_HEADERS).toEqual({
      authorization: 'Bearer a,b',
      'x-team': 'ops=1',
    });
    const faults = faultsOf({
      ...least,
      OTEL_EXPORTER_OTLP_HEADERS: 'hunter2',
      OTEL_TRACES_SAMPLER_ARG: '1.5',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:hunter2@collector',
    });
    expect(faults.join('\n')).toMatch(/HEADERS: must be name=value/);
    expect(faults.join('\n')).toMatch(/SAMPLER_ARG: must be from 0 to 1/);
    expect(faults.join('\n')).toMatch(/ENDPOINT: must have no user/);
    expect(faults.join('\n')).not.toContain('hunter2');
  });

  test('take addresses that pages link, and none that a script or a tag could be in', () => {
    for (const name of ['SUPPORT_URL', 'WALLET_HELP_URL']) {
      const url = 'https://acme.example/help?a=1&b=2#wallet';
      expect(loadConfig({ ...least, [name]: url })).toMatchObject({ [name]: url });
      for (const wrong of ['javascript:alert(1)', 'acme.example', 'https://a.example/"><script>']) {
        expect(faultsOf({ ...least, [name]: wrong })).toHaveLength(1);
      }
    }
    expect(faultsOf({ ...least, WALLET_HELP_URL: 'mailto:help@acme.example' })).toHaveLength(1);
  });

  test('take origins of pages as browsers send them, and name what is none', () => {
    const { BROWSER_ORIGINS } = loadConfig({
      ...least,
      BROWSER_ORIGINS: 'https://app.example, http://localhost:5173',
    });
    expect(BROWSER_ORIGINS).toEqual(['https://app.example', 'http://localhost:5173']);
    const wrong = [
      '*',
      'null',
      'app.example',
      'https://app.example/',
      'https://App.example',
      'ftp://a.example',
    ];
    for (const each of wrong) {
      expect(faultsOf({ ...least, BROWSER_ORIGINS: each })).toEqual([
        expect.stringContaining('must be an origin such as https://app.example'),
      ]);
    }
  });

  test('take an empty value for an absent one', () => {
    expect(loadConfig({ ...least, PORT: '' }).PORT).toBe(3000);
  });

  test('name every fault at once, those between settings included, and no secret', () => {
    const faults = faultsOf({
      DATABASE_URL: 'mysql://root:hunter2@db',
      PORT: '99999',
      AREAS: 'rwa,cooking',
      KEY_VERIFIER: 'remote',
      AUTH_CREDENTIAL: '',
      RATE_LIMIT_PER_SECOND: '300',
      SECRET_KEYS: 'a:c2hvcnQ=',
    });
    const named = faults.map((fault) => fault.split(/[: ]/)[0]);
    expect(named).toEqual([
      'DATABASE_URL',
      'PORT',
      'AREAS',
      'SECRET_KEYS',
      'AUTH_URL',
      'AUTH_CREDENTIAL',
      'RATE_LIMIT_BURST',
    ]);
    expect(faults.join()).not.toMatch(/hunter2|c2hvcnQ/);
  });

  test.for([
    ['#', 'pass#word'],
    ['# behind what could be a port', '12#word'],
    ['%', 'pass%word'],
    ['% before digits that are no character', 'pass%e9word'],
    ['/', 'pass/word'],
    ['/ behind what could be a port', '12/word'],
    ['?', 'pass?word'],
    ['? behind what could be a port', '12?word'],
    ['@ and /', 'pass@no/word'],
  ] as const)(
    'name each URL of a database that a %s in its password breaks, and how to write it',
    ([, password]) => {
      const url = `postgres://me:${password}@host/db`;
      const urls = { DATABASE_URL: url, DATABASE_SESSION_URL: url, DATABASE_REPLICA_URL: url };
      const faults = faultsOf({ ...least, ...urls });
      expect(faults).toEqual(
        Object.keys(urls).map((name) =>
          expect.stringMatching(new RegExp(`^${name}: cannot be read as .*; .* write # as %23, % as %25`)),
        ),
      );
      expect(faults.join()).not.toContain(password);
      const written = new URL('postgres://me@host/db');
      written.password = encodeURIComponent(password);
      expect(faultsOf({ ...least, DATABASE_URL: written.href })).toEqual([]);
    },
  );

  test.for([
    'postgres://host/db',
    'postgresql://me:p@ss@[::1]:5432/db?sslmode=require&application_name=a@b',
    'postgres://me:word@/db?host=/run/postgresql',
    'postgres:///db?host=/run/postgresql',
    'postgres://me:word@%2Frun%2Fpostgresql/db',
  ])('read the URL of a database as the driver does: %s', (url) => {
    expect(faultsOf({ ...least, DATABASE_URL: url })).toEqual([]);
  });

  test('need SECRET_KEYS only where RWAs are served', () => {
    const { SECRET_KEYS: _, ...without } = least;
    expect(faultsOf(without)).toEqual([expect.stringMatching(/^SECRET_KEYS is missing/)]);
    expect(faultsOf({ ...without, AREAS: 'blockchain, events' })).toEqual([]);
  });

  test('need CURSOR_KEYS only where blockchain data is served', () => {
    const { CURSOR_KEYS: _, ...without } = least;
    expect(faultsOf(without)).toEqual([expect.stringMatching(/^CURSOR_KEYS is missing/)]);
    expect(faultsOf({ ...without, AREAS: 'rwa, events' })).toEqual([]);
  });

  test('give the hosted data provider no user', () => {
    expect(faultsOf({ ...least, MORALIS_BASE_URL: 'https://me:hunter2@host/' })).toEqual([
      'MORALIS_BASE_URL: must not carry a user: use MORALIS_API_KEY',
    ]);
  });

  test('keep the order of the keys: the first one encrypts', () => {
    const { SECRET_KEYS } = loadConfig({ ...least, SECRET_KEYS: `new:${key(2)},old:${key(1)}` });
    expect([...(SECRET_KEYS?.keys() ?? [])]).toEqual(['new', 'old']);
    const lines = loadConfig({
      ...least,
      SECRET_KEYS: `new:${key(2)},\nold:${key(1)}\n\noldest:${key(3)}\n`,
    });
    expect([...(lines.SECRET_KEYS?.keys() ?? [])]).toEqual(['new', 'old', 'oldest']);
  });

  test('name who signs mints, and want the password of their keystores', () => {
    const arn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
    const signers = { MINT_SIGNERS: `137=keystore:/keys/a.json, 1=kms:${arn}` };
    expect(loadConfig({ ...least, ...signers, MINT_KEYSTORE_PASSWORD_FILE: '/keys/p' }).MINT_SIGNERS).toEqual(
      [
        { chainId: '137', kind: 'keystore', place: '/keys/a.json' },
        { chainId: '1', kind: 'kms', place: arn },
      ],
    );
    expect(loadConfig({ ...least, MINT_SIGNERS: `1=kms:${arn}` }).MINT_SIGNERS).toHaveLength(1);
    expect(faultsOf({ ...least, ...signers })).toEqual([
      'MINT_KEYSTORE_PASSWORD_FILE is missing: a keystore of MINT_SIGNERS needs it',
    ]);
    for (const wrong of ['0x1=keystore:/a', '1=key:0xab', '1=kms:alias/minter', '1=keystore:/a,']) {
      expect(faultsOf({ ...least, MINT_SIGNERS: wrong, MINT_KEYSTORE_PASSWORD_FILE: '/p' })).toHaveLength(1);
    }
  });
});
