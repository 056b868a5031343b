import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startService } from '../../src/service/service.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/postgres.ts';
import { startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';
import type { RefusedTask } from './refused-start-process.ts';

let taken: Server;
let observer: TestDatabase;
let database: TestDatabase;
let operationsPort: number;
let port: number;

beforeAll(async () => {
  observer = await createTestDatabase();
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
});
afterAll(async () => {
  taken.close();
  await observer.close();
});
/** A database of its own, and two free ports. */
async function prepare(): Promise<void> {
  database = await createTestDatabase();
  [port, operationsPort] = await Promise.all([freePort(), freePort()]);
  await database.db('networks').insert({
    chain_id: 31337,
    name: 'Local',
    rpc_urls: ['http://127.0.0.1:9'],
    data_provider: 'indexer',
    currency_name: 'Ether',
    currency_symbol: 'ETH',
    currency_decimals: 18,
    confirmations: 1,
    finality_depth: 64,
  });
}

const takenPort = () => {
  const address = taken.address();
  return String(typeof address === 'object' && address !== null ? address.port : 0);
};

/** An NFT whose claim secret no key of the settings opens. */
const storeSecret = (keyId: string) =>
  database.db.raw(`
    INSERT INTO companies (id, name) VALUES ('c', 'c');
    WITH rwa AS (
      INSERT INTO rwas (company_id, name, type, chain_id, contract_address, last_serial, total_nfts)
      VALUES ('c', 'r', 't', 31337, '0x5FbDB2315678afecb367f032d93F642f64180aa3', 1, 1) RETURNING *)
    INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id)
      SELECT company_id, id, number, 1, number * 18446744073709551616::numeric + 1, 'x', '${keyId}' FROM rwa`);

type Refusal = {
  readonly why: string;
  /** What the database holds that makes the start impossible. */
  readonly prepare?: () => Promise<unknown>;
  readonly settings?: () => Readonly<Record<string, string>>;
  readonly message: RegExp;
};

// In the order in which a start comes to them.
const refusals: readonly Refusal[] = [
  {
    why: 'the schema is not current',
    prepare: () =>
      database.db.raw('DELETE FROM schema_history WHERE id = (SELECT max(id) FROM schema_history)'),
    message: /tallystick migrate/,
  },
  {
    why: 'a key of claim secrets is missing',
    prepare: () => storeSecret('retired'),
    message: /SECRET_KEYS lacks keys .*: retired/,
  },
  {
    why: 'a key of claim secrets has other bytes',
    prepare: () => storeSecret('a'),
    message: /SECRET_KEYS has other bytes under the id a /,
  },
  {
    why: 'a key of secrets of endpoints is missing',
    prepare: () =>
      database.db.raw(`INSERT INTO news_endpoints (id, company_id, url, secrets, first_position, position)
        VALUES (gen_random_uuid(), 'acme', 'https://partner.example/', '{retired:AAAA}', 0, 0)`),
    message: /SECRET_KEYS lacks keys that secrets of endpoints .*: retired/,
  },
  {
    why: 'a keystore cannot be opened',
    settings: () => ({
      MINT_SIGNERS: '31337=keystore:/nowhere/keystore.json',
      MINT_KEYSTORE_PASSWORD_FILE: '/nowhere/password',
    }),
    message: /\/nowhere\//,
  },
  {
    why: 'the port for operators is taken',
    settings: () => ({ OPERATIONS_PORT: takenPort() }),
    message: /OPERATIONS_PORT=/,
  },
  {
    why: 'the queue of jobs cannot be made',
    // Something else has the name of its schema.
    prepare: () =>
      database.db.raw(
        'DROP SCHEMA pgboss CASCADE; CREATE SCHEMA pgboss; CREATE TABLE pgboss.version (nothing int)',
      ),
    message: /pgboss/,
  },
  {
    why: 'the second of two lanes cannot be registered',
    prepare: () =>
      database.db.raw(`
        CREATE FUNCTION refuse_lane() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'no more lanes'; END $$;
        CREATE TRIGGER refuse_lane BEFORE INSERT ON mint_lanes FOR EACH ROW
          WHEN (NEW.signer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8') EXECUTE FUNCTION refuse_lane()`),
    message: /no more lanes/,
  },
  {
    why: 'the port for callers is taken',
    settings: () => ({ PORT: takenPort() }),
    message: /Port \d+ is taken/,
  },
];

// Of the accounts that every local chain has.
const signers = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
].map((privateKey) => ({ chainId: '31337', privateKey }));

async function taskOf({ prepare: spoil, settings }: Refusal): Promise<RefusedTask> {
  await prepare();
  await spoil?.();
  // Only the service's own sessions are left to count.
  await database.close();
  const key = `a:${Buffer.alloc(32, 1).toString('base64')}`;
  return {
    settings: {
      DATABASE_URL: database.url,
      SECRET_KEYS: key,
      CURSOR_KEYS: key,
      HOST: '127.0.0.1',
      PORT: String(port),
      OPERATIONS_PORT: String(operationsPort),
      ...settings?.(),
    },
    signers,
  };
}

async function sessions(): Promise<string[]> {
  const name = new URL(database.url).pathname.slice(1);
  const { rows } = await observer.db.raw(
    "SELECT application_name FROM pg_stat_activity WHERE datname = ? AND backend_type = 'client backend'",
    [name],
  );
  return rows.map(({ application_name: application }: { application_name: string }) => application);
}

async function isListening(on: number): Promise<boolean> {
  const socket = connect(on, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe.each(refusals)('a start that is refused because $why', (refusal) => {
  test('leaves no connection to the database and no listener', async () => {
    const { settings, signers: plainSigners } = await taskOf(refusal);
    const start = startService(loadConfig(settings), createLogger({ level: 'silent' }), { plainSigners });
    await expect(start).rejects.toThrow(refusal.message);
    expect(await isListening(port)).toBe(false);
    expect(await isListening(operationsPort)).toBe(false);
    // The server counts a session for a moment after its client has gone.
    await waitFor(async () => expect(await sessions()).toEqual([]));
  });
});

test('starts that are refused leave nothing that keeps their process alive', async () => {
  const tasks: RefusedTask[] = [];
  for (const refusal of refusals) tasks.push(await taskOf(refusal));
  const child = startProcess(['test/service/refused-start-process.ts', JSON.stringify(tasks)], {});
  await child.until(/^all were refused$/m);
  const messages = [...child.output().matchAll(/^refused: (.*)$/gm)].map(([, message]) => message);
  expect(messages).toEqual(refusals.map(({ message }) => expect.stringMatching(message)));
  expect(await Promise.race([child.ended, pause(5_000, 'still running')])).toBe(0);
});
