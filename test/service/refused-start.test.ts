import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addCompany, addNetwork, addNfts, addRwa, vaultOf } from '../rwa/samples.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/postgres.ts';
import { processSettings, startProcess } from '../support/process.ts';
import type { RefusedTask } from './refused-start-process.ts';

let taken: Server;
let database: TestDatabase;
let operationsPort: number;
let port: number;

beforeAll(async () => {
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
});
afterAll(() => void taken.close());

const takenPort = () => {
  const address = taken.address();
  return String(typeof address === 'object' && address !== null ? address.port : 0);
};

/** An NFT whose claim secret no key of the settings opens. */
async function storeSecret(keyId: string): Promise<void> {
  await addCompany(database.db, 'acme');
  await addNfts(database.db, vaultOf([keyId]), await addRwa(database.db, 'acme'), 1);
}

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

/** A start with a database of its own and two free ports. */
async function taskOf({ prepare, settings }: Refusal): Promise<RefusedTask> {
  database = await createTestDatabase();
  [port, operationsPort] = await Promise.all([freePort(), freePort()]);
  await addNetwork(database.db);
  await prepare?.();
  await database.close();
  return {
    settings: {
      ...processSettings(database.url),
      PORT: String(port),
      OPERATIONS_PORT: String(operationsPort),
      ...settings?.(),
    },
    signers,
  };
}

test('a refused start leaves nothing that keeps its process alive, such as a connection or a listener', async () => {
  const tasks: RefusedTask[] = [];
  for (const refusal of refusals) tasks.push(await taskOf(refusal));
  const child = startProcess(['test/service/refused-start-process.ts', JSON.stringify(tasks)], {});
  await child.until(/^all were refused$/m);
  const messages = [...child.output().matchAll(/^refused: (.*)$/gm)].map(([, message]) => message);
  expect(messages).toEqual(refusals.map(({ message }) => expect.stringMatching(message)));
  expect(await Promise.race([child.ended, pause(5_000, 'still running')])).toBe(0);
});
