import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import { generateKey } from '../../src/keys/key-format.ts';
import { startGate } from '../keys/tcp-gate.ts';
import { addNetwork } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { keystoreSettings } from '../support/keystore-settings.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import { processSettings, startMain, startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';

describe('the service as a process', () => {
  test('serves, and on SIGTERM lets a request in progress end before it goes', async ({
    db,
    databaseUrl,
  }) => {
    const main = startMain(databaseUrl, { OPERATIONS_PORT: '0' });
    const [, port, operations] = await main.until(/"port":(\d+),"operationsPort":(\d+)/);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    await expect.poll(() => db('processes').pluck('roles')).toEqual([['api', 'worker', 'indexer']]);

    // The lock holds the request in progress until this transaction ends.
    const transaction = await db.transaction();
    await transaction.raw('LOCK TABLE networks, api_keys IN ACCESS EXCLUSIVE MODE');
    const answer = fetch(`http://127.0.0.1:${port}/v1/api/rwa`, {
      headers: { 'x-api-key': generateKey('live') },
    });
    await waitFor(async () => expect(await countLockWaits(db)).toBeGreaterThan(0));
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
    expect(await db('processes')).toEqual([]);
    const phases = [...main.output().matchAll(/"phase":"(\w+)","ms":\d+/g)].map(([, phase]) => phase);
    expect(phases).toEqual(['readiness', 'drain', 'requests', 'background', 'operators', 'connections']);
  });

  test('says with its exit status that something did not stop in time, and stops all else', async ({
    db,
    databaseUrl,
  }) => {
    await addNetwork(db);
    const gate = await startGate(databaseUrl);
    const main = startMain(gate.through(databaseUrl), {
      ROLES: 'worker',
      SHUTDOWN_SECONDS: '1',
      ...(await keystoreSettings('31337', Wallet.createRandom().privateKey)),
    });
    await main.until(/service started/);
    await expect.poll(() => db('mint_lanes').whereNotNull('holder').pluck('signer')).toHaveLength(1);

    // Who waits for an answer of the database waits for longer than a stop does.
    gate.freeze();
    main.child.kill('SIGTERM');
    await main.until(/stop phase failed/);
    gate.open();
    expect(await main.ended).toBe(1);
    expect(main.output()).toMatch(
      /"level":"fatal",.*"msg":"It did not stop in order: .*: not over after 6000 ms/,
    );
    expect(main.output()).toMatch(/"phase":"connections","ms":\d+/);
    expect(main.output()).not.toMatch(/service stopped/);
    await gate.close();
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
    const { DATABASE_URL: _url, CURSOR_KEYS, ...given } = processSettings(databaseUrl);
    const url = await fileOf('url', databaseUrl, 0o644);
    const keys = await fileOf('keys', CURSOR_KEYS, 0o600);
    const settings = await fileOf('settings', `DATABASE_URL_FILE=${url}\nCURSOR_KEYS_FILE=${keys}\n`, 0o640);
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
});
