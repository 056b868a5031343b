import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { encryptKeystoreJson, Wallet } from 'ethers';
import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { generateKey } from '../../src/keys/key-format.ts';
import { startGate } from '../keys/tcp-gate.ts';
import { test } from '../support/fixtures.ts';
import { startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';

const environment = {
  SECRET_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
  CURSOR_KEYS: `a:${Buffer.alloc(32, 3).toString('base64')}`,
  HOST: '127.0.0.1',
  PORT: '0',
  DRAIN_SECONDS: '0',
};
const startMain = (databaseUrl: string, settings: Record<string, string> = {}) =>
  startProcess(['src/main.ts'], { DATABASE_URL: databaseUrl, ...environment, ...settings });

/** Waits until a statement of another connection waits for a lock. */
function untilBlocked(db: Knex): Promise<void> {
  return waitFor(async () => {
    const { rows } = await db.raw(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect(rows).not.toEqual([]);
  });
}

describe('the service as a process', () => {
  test('serves, and on SIGTERM lets a request in progress end before it goes', async ({
    db,
    databaseUrl,
  }) => {
    const main = startMain(databaseUrl, { OPERATIONS_PORT: '0' });
    const [, port, operations] = await main.until(/"port":(\d+),"operationsPort":(\d+)/);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);

    // The lock holds the request in progress until this transaction ends.
    const transaction = await db.transaction();
    await transaction.raw('LOCK TABLE networks, api_keys IN ACCESS EXCLUSIVE MODE');
    const answer = fetch(`http://127.0.0.1:${port}/v1/api/rwa`, {
      headers: { 'x-api-key': generateKey('live') },
    });
    await untilBlocked(db);
    main.child.kill('SIGTERM');
    await main.until(/service stopping/);
    // Nobody new is let in, but operators still see what goes on.
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    expect((await fetch(`http://127.0.0.1:${operations}/metrics`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${operations}/readyz`)).status).toBe(503);
    await transaction.commit();
    expect((await answer).status).toBe(401);
    expect(await main.ended).toBe(0);
    expect(main.output()).toMatch(/service stopped/);
    const phases = [...main.output().matchAll(/"phase":"(\w+)","ms":\d+/g)].map(([, phase]) => phase);
    expect(phases).toEqual(['readiness', 'drain', 'requests', 'background', 'operators', 'connections']);
  });

  test('says with its exit status that something did not stop in time, and stops all else', async ({
    db,
    databaseUrl,
  }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-stop-'));
    const [keystore, password] = [path.join(folder, 'keystore.json'), path.join(folder, 'password')];
    await writeFile(password, 'opens');
    // Cheap to open: the key is worth nothing.
    const wallet = new Wallet(Wallet.createRandom().privateKey);
    await writeFile(keystore, await encryptKeystoreJson(wallet, 'opens', { scrypt: { N: 1_024 } }));
    await db.raw(`
      INSERT INTO networks (chain_id, name, currency_name, currency_symbol, currency_decimals, rpc_urls, data_provider, confirmations, finality_depth)
        VALUES (6, 'n', 'n', 'N', 18, '{http://127.0.0.1:9}', 'indexer', 1, 1)`);
    const gate = await startGate(databaseUrl);
    const main = startMain(gate.through(databaseUrl), {
      ROLES: 'worker',
      SHUTDOWN_SECONDS: '1',
      MINT_SIGNERS: `6=keystore:${keystore}`,
      MINT_KEYSTORE_PASSWORD_FILE: password,
    });
    await main.until(/service started/);
    await expect.poll(() => db('mint_lanes').whereNotNull('holder').pluck('signer')).toHaveLength(1);

    // Who waits for an answer of the database waits for longer than a stop does.
    gate.freeze();
    main.child.kill('SIGTERM');
    await main.until(/stop phase failed/);
    gate.open();
    expect(await main.ended).toBe(1);
    expect(main.output()).toMatch(/tallystick: It did not stop in order: .*: not over after 6000 ms/);
    expect(main.output()).toMatch(/"phase":"connections","ms":\d+/);
    expect(main.output()).not.toMatch(/service stopped/);
    await gate.close();
    await rm(folder, { recursive: true });
  });

  test('warns at its start of each file of settings or secrets that others can read, and goes on', async ({
    databaseUrl,
  }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-open-'));
    const fileOf = async (name: string, text: string, mode: number) => {
      const file = path.join(folder, name);
      await writeFile(file, text);
      await chmod(file, mode);
      return file;
    };
    const url = await fileOf('url', databaseUrl, 0o644);
    const keys = await fileOf('keys', environment.CURSOR_KEYS, 0o600);
    const settings = await fileOf('settings', `DATABASE_URL_FILE=${url}\nCURSOR_KEYS_FILE=${keys}\n`, 0o640);
    const { CURSOR_KEYS: _, ...given } = environment;
    const main = startProcess(['src/main.ts'], { ...given, TALLYSTICK_SETTINGS: settings });
    await main.until(/service started/);
    main.child.kill('SIGTERM');
    expect(await main.ended).toBe(0);
    const warnings = main
      .output()
      .split('\n')
      .filter((line) => line.includes('can read this file'))
      .map((line) => JSON.parse(line));
    const remedy =
      'let it belong to the user of the service and run chmod 600 (a volume of Kubernetes: defaultMode: 0400)';
    expect(warnings).toMatchObject([
      {
        level: 'warn',
        file: settings,
        mode: '640',
        msg: `its group can read this file of settings or secrets: ${remedy}`,
      },
      {
        level: 'warn',
        file: url,
        mode: '644',
        msg: `every user can read this file of settings or secrets: ${remedy}`,
      },
    ]);
    await rm(folder, { recursive: true });
  });

  test('names every fault of its environment at once and shows no secret', async () => {
    const main = startProcess(['src/main.ts'], {
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      PORT: 'eighty',
      ROLES: 'api,cook',
    });
    expect(await main.ended).toBe(2);
    for (const name of ['DATABASE_URL', 'PORT', 'ROLES']) expect(main.output()).toMatch(name);
    expect(main.output()).not.toMatch(/hunter2/);
  });

  test('says how to mend a schema that is not current', async ({ db, databaseUrl }) => {
    const name = `empty_${process.pid}_${Date.now()}`;
    await db.raw(`CREATE DATABASE ${name}`);
    const url = new URL(databaseUrl);
    url.pathname = `/${name}`;
    const main = startMain(url.href);
    expect(await main.ended).toBe(1);
    expect(main.output()).toMatch(/tallystick migrate/);
  });

  test('says that its port is taken', async ({ databaseUrl }) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const main = startMain(databaseUrl, { PORT: String(port) });
    expect(await main.ended).toBe(1);
    expect(main.output()).toMatch(`Port ${port} is taken. Stop what listens there, or choose another: PORT=`);
    const other = startMain(databaseUrl, { OPERATIONS_PORT: String(port) });
    expect(await other.ended).toBe(1);
    expect(other.output()).toMatch(`choose another: OPERATIONS_PORT=${port + 1}`);
    server.close();
  });

  test('refuses to start without a key that claim secrets are encrypted with', async ({ databaseUrl }) => {
    const db = createDatabase(databaseUrl, { poolMax: 1, log: createLogger({ level: 'silent' }) });
    await db.raw(`
      INSERT INTO companies (id, name) VALUES ('c', 'c');
      INSERT INTO networks (chain_id, name, currency_name, currency_symbol, currency_decimals, rpc_urls, data_provider, confirmations, finality_depth)
        VALUES (5, 'n', 'n', 'N', 18, '{http://127.0.0.1:9}', 'indexer', 1, 1);
      WITH rwa AS (
        INSERT INTO rwas (company_id, name, type, chain_id, contract_address, last_serial, total_nfts)
        VALUES ('c', 'r', 't', 5, '0x5FbDB2315678afecb367f032d93F642f64180aa3', 1, 1) RETURNING *)
      INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id)
        SELECT company_id, id, number, 1, number * 18446744073709551616::numeric + 1, 'x', 'retired' FROM rwa`);
    await db.destroy();
    const main = startMain(databaseUrl);
    expect(await main.ended).toBe(1);
    expect(main.output()).toMatch(/SECRET_KEYS lacks keys .*: retired/);
  });
});
