import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeWrappedKey, writeWrappedKey } from '../../src/chain/kms-client.ts';
import { ConfigError, loadConfig } from '../../src/config/config.ts';
import { openSecretSettings } from '../../src/service/secret-settings.ts';

const arn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const key = Buffer.alloc(32, 9);
const base = { DATABASE_URL: 'postgres://me@host/db', CURSOR_KEYS: `c:${key.toString('base64')}` };

/** The answers of KMS in its own form, with one data key. What it wraps opens for the same context only. */
let isSilent = false;
const asked: { target: string; body: Record<string, unknown> }[] = [];
const server = createServer(async (request, response) => {
  const body = JSON.parse(await text(request));
  const target = String(request.headers['x-amz-target']).replace('TrentService.', '');
  asked.push({ target, body });
  if (isSilent) return;
  response.setHeader('content-type', 'application/x-amz-json-1.1');
  const context = JSON.stringify(body.EncryptionContext);
  if (target === 'GenerateDataKeyWithoutPlaintext') {
    const blob = Buffer.from(`wrapped for ${context}`).toString('base64');
    response.end(JSON.stringify({ KeyId: arn, CiphertextBlob: blob }));
  } else if (Buffer.from(body.CiphertextBlob, 'base64').toString() !== `wrapped for ${context}`) {
    response.statusCode = 400;
    response.end(JSON.stringify({ __type: 'InvalidCiphertextException', message: 'it does not fit' }));
  } else {
    response.end(JSON.stringify({ KeyId: arn, Plaintext: key.toString('base64') }));
  }
});
let endpoint: string;
let folder: string;
beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  folder = await mkdtemp(path.join(tmpdir(), 'tallystick-secrets-'));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

const faultsOf = async (env: Record<string, string>) => {
  const error = await openSecretSettings(env, { endpoint }).catch((fault: unknown) => fault);
  if (error instanceof ConfigError) return error.faults;
  throw new Error(`expected faults, got ${JSON.stringify(error)}`);
};

describe('a secret in a file', () => {
  test('is read without its last line end', async () => {
    const file = path.join(folder, 'keys');
    await writeFile(file, `a:${key.toString('base64')}\n`);
    const { SECRET_KEYS } = loadConfig(await openSecretSettings({ ...base, SECRET_KEYS_FILE: file }));
    expect(SECRET_KEYS?.get('a')).toEqual(key);
  });

  test('must be readable, and given once', async () => {
    const missing = path.join(folder, 'missing');
    const SECRET_KEYS = 'a:secret-bytes';
    const faults = await faultsOf({ DATABASE_URL_FILE: missing, SECRET_KEYS, SECRET_KEYS_FILE: missing });
    expect(faults).toEqual([
      `DATABASE_URL_FILE: ${missing} cannot be read (ENOENT)`,
      'SECRET_KEYS_FILE: SECRET_KEYS is given too; leave one of them out',
      `SECRET_KEYS_FILE: ${missing} cannot be read (ENOENT)`,
    ]);
  });
});

test('the URL of a database in a file is reported like any other, without its password', async () => {
  const file = path.join(folder, 'url');
  await writeFile(file, 'postgres://me:hunter#22@host/db\n');
  const names = ['DATABASE_URL', 'DATABASE_SESSION_URL', 'DATABASE_REPLICA_URL'];
  const { DATABASE_URL: _, ...without } = base;
  const env = await openSecretSettings({
    ...without,
    AREAS: 'events',
    ...Object.fromEntries(names.map((name) => [`${name}_FILE`, file])),
  });
  expect(() => loadConfig(env)).toThrow(ConfigError);
  expect(() => loadConfig(env)).toThrow(
    new RegExp(names.map((name) => `- ${name}: cannot be read as .* write # as %23.*`).join('\n *')),
  );
  expect(() => loadConfig(env)).not.toThrow(/hunter/);
});

describe('a key that KMS wraps', () => {
  test('is made without anybody seeing it, and opened at start', async () => {
    const entry = writeWrappedKey(await makeWrappedKey('2027', arn, { endpoint }));
    expect(entry).not.toContain(key.toString('base64'));
    expect(asked.at(-1)).toMatchObject({
      target: 'GenerateDataKeyWithoutPlaintext',
      body: { KeyId: arn, KeySpec: 'AES_256', EncryptionContext: { tallystick: '2027' } },
    });
    const SECRET_KEYS = `${entry},old:${Buffer.alloc(32, 1).toString('base64')}`;
    const config = loadConfig(await openSecretSettings({ ...base, SECRET_KEYS }, { endpoint }));
    expect([...(config.SECRET_KEYS ?? [])]).toEqual([
      ['2027', key],
      ['old', Buffer.alloc(32, 1)],
    ]);
    expect(asked.at(-1)).toMatchObject({ target: 'Decrypt', body: { KeyId: arn } });
  });

  test('opens under its own id only, and the fault names setting, id and key', async () => {
    const entry = writeWrappedKey(await makeWrappedKey('2027', arn, { endpoint }));
    const SECRET_KEYS = entry.replace('2027', '2028');
    expect(await faultsOf({ ...base, SECRET_KEYS })).toEqual([
      `SECRET_KEYS: key 2028 cannot be opened by ${arn}: it does not fit`,
    ]);
  });

  test('fails the start in time where KMS takes connections and never answers', async () => {
    const entry = writeWrappedKey(await makeWrappedKey('2027', arn, { endpoint }));
    isSilent = true;
    const started = openSecretSettings({ ...base, SECRET_KEYS: entry }, { endpoint, timeoutMs: 100 });
    await expect(started).rejects.toThrow(/key 2027 cannot be opened by .*(timeout|timed out)/i);
    isSilent = false;
  });
});
