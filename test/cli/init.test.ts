import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { describe, expect } from 'vitest';
import { openKeystore } from '../../src/chain/minting/key-signer.ts';
import { test } from '../support/fixtures.ts';
import { makeFolder } from '../support/made-folder.ts';
import { freePort } from '../support/postgres.ts';
import { moduleCache } from '../support/process.ts';
import type { Told } from './command-line.ts';

const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));
const root = await makeFolder();

const newFolder = () => mkdtemp(path.join(root, 'run-'));

// A keystore is made so that guessing its password is slow, and so is making it on a busy machine.
const forKeystores = 120_000;

type Asked = {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** What is typed when a text is read on standard error, in this order. */
  readonly answers?: readonly (readonly [question: string, answer: string | (() => Promise<void>)])[];
};

/** Runs the real program; its input ends once every answer is given. */
function run(args: readonly string[], { cwd, env = {}, answers = [] }: Asked): Promise<Told> {
  const child = spawn(process.execPath, [bin, ...args], { cwd, env: { ...moduleCache, ...env } });
  const told = { out: '', err: '' };
  const left = [...answers];
  let seen = 0;
  child.stdout.on('data', (piece) => {
    told.out += piece;
  });
  child.stderr.on('data', (piece) => {
    told.err += piece;
    const [next] = left;
    // What is longer than a line is broken anywhere.
    const at = next === undefined ? -1 : told.err.replaceAll(/\r?\n/g, '').indexOf(next[0], seen);
    if (next === undefined || at < 0) return;
    seen = at + next[0].length;
    left.shift();
    const [, answer] = next;
    if (typeof answer === 'string') child.stdin.write(`${answer}\n`);
    else void answer().then(() => child.stdin.write('\n'));
  });
  if (answers.length === 0) child.stdin.end();
  return new Promise((resolve) => {
    child.once('close', (status) => resolve({ status: status ?? -1, ...told }));
  });
}

/** Waits until the program has written this. */
const asked = (child: ChildProcess, text: string) =>
  new Promise<void>((resolve) => {
    let told = '';
    child.stderr?.on('data', (piece) => {
      told += piece;
      if (told.includes(text)) resolve();
    });
  });

const settingsOf = async (file: string) => parseEnv(await readFile(file, 'utf8'));
const modeOf = async (file: string) => (await stat(file)).mode & 0o777;
const away = 'postgres://user:secret@127.0.0.1:1/none';

describe('tallystick init', () => {
  test('asks for what is missing, again where an answer is wrong, and writes what every command reads', async ({
    databaseUrl,
  }) => {
    const cwd = await newFolder();
    const { status, out, err } = await run(['init'], {
      cwd,
      answers: [
        ['Database', databaseUrl],
        ['callers reach', 'ftp://api.example.com'],
        ['must be an http(s) URL', '\u0015https://api.example.com'],
        ['claim page', ''],
        ['runs the service', 'Acme & Sons'],
        ['must be letters', '\u0015Acme and Sons'],
        ['find help', 'mailto:help@acme.example'],
        ['Moralis', ''],
        ['networks to mint', ''],
      ],
    });
    expect({ status, err }).toEqual({
      status: 0,
      err: expect.stringContaining('Next: export TALLYSTICK_SETTINGS='),
    });
    expect(err).toContain('Note: networks: none is registered yet');
    const file = path.join(cwd, 'tallystick.env');
    expect(out).toContain(file);
    expect(out + err).not.toContain(databaseUrl);
    expect(await modeOf(file)).toBe(0o600);
    expect(await readdir(cwd)).toEqual(['tallystick.env']);
    const ring = expect.stringMatching(/^20\d\d-[0-9a-f]{6}:[A-Za-z0-9+/]{43}=$/);
    expect(await settingsOf(file)).toEqual({
      DATABASE_URL: databaseUrl,
      PUBLIC_BASE_URL: 'https://api.example.com',
      OPERATOR_NAME: 'Acme and Sons',
      SUPPORT_URL: 'mailto:help@acme.example',
      SECRET_KEYS: ring,
      CURSOR_KEYS: ring,
    });
    const listed = { cwd, env: { TALLYSTICK_SETTINGS: file } };
    expect(await run(['company', 'list', '--json'], listed)).toMatchObject({ status: 0, out: '[]\n' });
    expect(await run(['--settings', 'tallystick.env', 'company', 'list', '--json'], { cwd })).toMatchObject({
      status: 0,
      out: '[]\n',
    });
  });

  test('run again keeps every key and value, asks for the rest only, and changes what an option gives', async () => {
    const cwd = await newFolder();
    const file = path.join(cwd, 'tallystick.env');
    await run(['init', '--yes'], { cwd, env: { DATABASE_URL: away } });
    const first = await readFile(file, 'utf8');
    await writeFile(file, `${first}\n# A line of ours.\nPORT=4000\n`);
    await chmod(file, 0o640);
    const more = await run(['init', '--yes', '--public-base-url', 'https://a.example', '--json'], { cwd });
    expect(JSON.parse(more.out)).toMatchObject({ written: ['PUBLIC_BASE_URL'] });
    const second = await readFile(file, 'utf8');
    expect(second).toBe(`${first}\n# A line of ours.\nPORT=4000\nPUBLIC_BASE_URL=https://a.example\n`);
    expect(await modeOf(file)).toBe(0o640);
    const asked = await run(['init'], {
      cwd,
      answers: [
        ['claim page', ''],
        ['runs the service', ''],
        ['find help', ''],
        ['Moralis', ''],
        ['networks to mint', ''],
      ],
    });
    expect(asked.err).not.toContain('Database, postgres');
    expect(await readFile(file, 'utf8')).toBe(`${second}OPERATOR_NAME=Tallystick\n`);
    await run(['init', '--yes', '--public-base-url', 'https://b.example'], { cwd });
    expect(await readFile(file, 'utf8')).toContain('\nPUBLIC_BASE_URL=https://b.example\nOPERATOR_NAME');
  });

  test(
    'makes a keystore for each network to mint on, once, which opens',
    async () => {
      const cwd = await newFolder();
      const made = await run(['init', '--yes', '--mint', '137', '--json'], {
        cwd,
        env: { DATABASE_URL: away },
      });
      const { signers, settings } = JSON.parse(made.out);
      const { MINT_SIGNERS: named, MINT_KEYSTORE_PASSWORD_FILE: password = '' } = await settingsOf(settings);
      const folder = path.join(cwd, 'keystores');
      expect(named).toBe(`137=keystore:${folder}/signer-137.json`);
      expect(signers).toHaveLength(1);
      for (const { address, keystore } of signers) {
        expect((await openKeystore(keystore, password)).address).toBe(address);
        expect([await modeOf(keystore), await modeOf(password)]).toEqual([0o600, 0o600]);
      }
      const again = await run(['init', '--yes', '--mint', '137', '--json'], { cwd });
      expect(JSON.parse(again.out)).toMatchObject({ written: [], signers: [] });
    },
    forKeystores,
  );

  test('takes secrets from the environment, in a file too, and makes no other keys', async () => {
    const cwd = await newFolder();
    const keys = `old:${Buffer.alloc(32, 5).toString('base64')}`;
    await writeFile(path.join(cwd, 'keys'), keys);
    const env = { DATABASE_URL: away, SECRET_KEYS_FILE: 'keys' };
    const { out } = await run(['init', '--yes', '--json'], { cwd, env: { ...moduleCache, ...env } });
    const { settings } = JSON.parse(out);
    const written = await settingsOf(settings);
    expect(written).toMatchObject({ DATABASE_URL: away, SECRET_KEYS_FILE: path.join(cwd, 'keys') });
    expect(Object.keys(written)).not.toContain('SECRET_KEYS');
  });

  test('names what is missing, also when nothing was given', async () => {
    const cwd = await newFolder();
    const { status, err } = await run(['init', '--yes'], { cwd });
    expect({ status, err }).toEqual({
      status: 1,
      err: expect.stringContaining('Missing: settings: DATABASE_URL is missing'),
    });
  });

  test('writes nothing when nobody answers, or an option is wrong', async () => {
    const cwd = await newFolder();
    const silent = await run(['init'], { cwd });
    expect(silent).toMatchObject({ status: 2, err: expect.stringContaining('Nobody answers') });
    expect(await run(['init', '--yes', '--database-url', 'x', '--mint', '0x1'], { cwd })).toMatchObject({
      status: 2,
      err: '--database-url must be a postgres:// URL.\n--mint must be decimal chain ids, separated by commas.\n',
    });
    expect(await readdir(cwd)).toEqual([]);
  });

  test('tests the database before it asks for more, and asks again with the reason', async ({
    databaseUrl,
  }) => {
    const cwd = await newFolder();
    const port = await freePort();
    const wrong = (change: (url: URL) => void) => {
      const url = new URL(databaseUrl);
      change(url);
      return `\u0015${url.href}`;
    };
    const { err, status } = await run(['init'], {
      cwd,
      answers: [
        ['Database', 'postgres://me:hunter#22@127.0.0.1/db'],
        [
          'write # as %23',
          wrong((url) => Object.assign(url, { host: `127.0.0.1:${port}`, password: 'hunter22' })),
        ],
        [
          `PostgreSQL at 127.0.0.1:${port} cannot be reached`,
          wrong((url) => Object.assign(url, { password: 'hunter22' })),
        ],
        ['Check user and password', wrong((url) => Object.assign(url, { pathname: '/nothing' }))],
        ['has no database "nothing"', `\u0015${databaseUrl}`],
        ['callers reach', ''],
        ['claim page', ''],
        ['runs the service', ''],
        ['find help', ''],
        ['Moralis', ''],
        ['networks to mint', ''],
      ],
    });
    expect({ status, err }).toEqual({ status: 0, err: expect.not.stringContaining('hunter') });
    expect(err.replaceAll(/\r?\n/g, '')).toContain('(Ctrl+U empties the line.)');
    expect((await settingsOf(path.join(cwd, 'tallystick.env')))['DATABASE_URL']).toBe(databaseUrl);
  });

  test.for(['SIGKILL', 'the end of its input'] as const)(
    'leaves nothing behind that the next run would meet, when it is ended by %s',
    async (end, { databaseUrl }) => {
      const cwd = await newFolder();
      const child = spawn(process.execPath, [bin, 'init'], { cwd, env: moduleCache });
      const ended = once(child, 'close');
      await asked(child, 'Database');
      child.stdin.write(`${databaseUrl}\n`);
      await asked(child, 'callers reach');
      if (end === 'the end of its input') child.stdin.end();
      else child.kill(end);
      await ended;
      expect(await readdir(cwd)).toEqual([]);
      const next = await run(['init', '--yes', '--database-url', databaseUrl], { cwd });
      expect(next.status).toBe(0);
      expect(await readdir(cwd)).toEqual(['tallystick.env']);
    },
  );

  test('writes nothing over what another one has written meanwhile', async ({ databaseUrl }) => {
    const cwd = await newFolder();
    const file = path.join(cwd, 'tallystick.env');
    const slow = await run(['init'], {
      cwd,
      answers: [
        ['Database', databaseUrl],
        ['callers reach', ''],
        ['claim page', ''],
        ['runs the service', ''],
        ['find help', ''],
        ['Moralis', ''],
        ['networks to mint', () => writeFile(file, 'PORT=4000\n')],
      ],
    });
    expect(slow).toMatchObject({ status: 2, err: expect.stringContaining('was changed meanwhile') });
    expect(await readFile(file, 'utf8')).toBe('PORT=4000\n');
    expect(await readdir(cwd)).toEqual(['tallystick.env']);
  });
});

describe('tallystick keystore new', () => {
  test(
    'makes a key that opens, and never writes over one',
    async () => {
      const cwd = await newFolder();
      const args = ['keystore', 'new', 'admin.json', '--password-file', 'admin.password', '--json'];
      const { out } = await run(args, { cwd });
      const files = ['admin.json', 'admin.password'].map((name) => path.join(cwd, name)) as [string, string];
      expect((await openKeystore(...files)).address).toBe(JSON.parse(out).address);
      expect(await Promise.all(files.map(modeOf))).toEqual([0o600, 0o600]);
      const before = await readFile(files[0], 'utf8');
      expect(await run(args, { cwd })).toMatchObject({
        status: 2,
        err: expect.stringContaining('never written over'),
      });
      expect(await readFile(files[0], 'utf8')).toBe(before);
    },
    forKeystores,
  );
});
