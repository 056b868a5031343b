import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { addCompany, addNetwork, contractAddress } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import { makeFolder } from '../support/made-folder.ts';
import { moduleCache } from '../support/process.ts';
import { settingsFor, type Told } from './command-line.ts';

const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));
const folder = await makeFolder();

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'acme');
});

/** Starts the real program as a process; `node` are options of the runtime. `heard`: it knows of Ctrl-C. */
function start(databaseUrl: string, args: readonly string[], node: readonly string[] = []) {
  const child = spawn(process.execPath, [...node, bin, ...args], {
    env: { ...moduleCache, ...settingsFor(databaseUrl) },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  const heard = new Promise<void>((resolve) => {
    child.stderr.on('data', (piece) => {
      err += piece;
      if (err.includes('Stopping')) resolve();
    });
  });
  const ended = new Promise<Told>((resolve) => {
    child.once('close', (status) => resolve({ status: status ?? -1, out, err }));
  });
  return { child, heard, ended };
}

/** Holds the table of RWAs until told to let go; resolves once a second session waits for it. */
async function holdRwas(db: Database) {
  const tx = await db.transaction();
  // A test that fails must not hold it for ever: its pool would wait for the connection.
  onTestFinished(async () => {
    if (!tx.isCompleted()) await tx.rollback();
  });
  await tx.raw('LOCK TABLE rwas IN ACCESS EXCLUSIVE MODE');
  const waiting = () => expect.poll(() => countLockWaits(db), { timeout: 60_000 }).toBeGreaterThan(0);
  return { waiting, release: () => tx.commit() };
}

describe('the program', () => {
  test('writes data to standard output and ends with the status', async ({ databaseUrl }) => {
    const good = await start(databaseUrl, ['company', 'list', '--json']).ended;
    expect(good).toMatchObject({ status: 0, err: '' });
    expect(JSON.parse(good.out)).toMatchObject([{ name: 'acme' }]);
    expect(await start(databaseUrl, ['company', 'show', 'nobody']).ended).toMatchObject({
      status: 2,
      out: '',
    });
  });

  test('hands over to the pinned runtime where the machine has one that runs no TypeScript', async ({
    databaseUrl,
  }) => {
    const { status, out } = await start(databaseUrl, ['--version'], ['--no-experimental-strip-types']).ended;
    expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    const missing = await start(databaseUrl, ['company', 'show', 'x'], ['--no-experimental-strip-types'])
      .ended;
    expect(missing.status).toBe(2);
  });

  test('ends quietly when its reader has seen enough', async ({ databaseUrl }) => {
    const { child, ended } = start(databaseUrl, ['--help']);
    child.stdout.destroy();
    expect((await ended).err).toBe('');
  });

  test('leaves nothing of an import behind after a signal to the launcher', async ({ db, databaseUrl }) => {
    const file = path.join(folder, 'casks.json');
    const row = { name: 'Cask', type: 'whisky', chainId: 31337, contractAddress };
    await writeFile(file, JSON.stringify(Array.from({ length: 1_000 }, () => row)));
    const table = await holdRwas(db);
    const args = ['rwa', 'import', file, '--company', 'acme', '--offline'];
    const { child, heard, ended } = start(databaseUrl, args, ['--no-experimental-strip-types']);
    await table.waiting();
    child.kill('SIGTERM');
    await heard;
    await table.release();
    const { status, out, err } = await ended;
    expect({ status, out }).toEqual({ status: 130, out: '' });
    expect(err).toMatch(/\nInterrupted: nothing was imported\.\n$/);
    expect(await db('rwas').pluck('id')).toEqual([]);
  });
});
