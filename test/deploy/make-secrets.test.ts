import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const script = path.join(import.meta.dirname, '../../deploy/compose/make-secrets.sh');
const run = promisify(execFile);

/** Runs the script for an empty folder, which is removed again. */
async function makeSecrets() {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-secrets-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { TALLYSTICK_USER: _, ...env } = process.env;
  const { stdout } = await run(script, [folder], { env });
  return { secrets: path.join(folder, 'secrets'), said: stdout, again: () => run(script, [folder], { env }) };
}

const own = { uid: process.getuid?.(), gid: process.getgid?.() };

test('the services alone read what compose.yaml gives them', async () => {
  const { secrets, said } = await makeSecrets();
  const owner = own.uid === 0 ? { uid: 65_532, gid: 65_532 } : own;
  // The password of a database user alone is for the image of PostgreSQL.
  const names = (await readdir(secrets)).filter((name) => !/^database_[a-z]+$/.test(name));
  expect(names).toContain('database_owner_url');
  expect(names).toContain('settings');
  for (const name of names) {
    const { mode, uid, gid } = await stat(path.join(secrets, name));
    expect({ name, others: mode & 0o077, uid, gid }).toEqual({ name, others: 0, ...owner });
  }
  expect((await stat(secrets)).mode & 0o077).toBe(0);
  expect(said.includes(`export TALLYSTICK_USER=${own.uid}:${own.gid}`)).toBe(own.uid !== 0);
});

test('PostgreSQL reads the passwords of its users, whoever it runs as', async () => {
  const { secrets } = await makeSecrets();
  for (const kind of ['owner', 'api', 'worker', 'indexer', 'operator'])
    expect((await stat(path.join(secrets, `database_${kind}`))).mode & 0o777).toBe(0o444);
});

test('the secrets are the same when the script runs again', async () => {
  const { secrets, again } = await makeSecrets();
  const read = () =>
    Promise.all(
      ['secret_keys', 'database_api_url'].map((name) => readFile(path.join(secrets, name), 'utf8')),
    );
  const first = await read();
  await again();
  expect(await read()).toEqual(first);
});
