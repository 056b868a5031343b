import { afterAll, describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { deleteNetwork, insertNetwork, updateNetwork } from '../../src/chain/network-store.ts';
import { createNetworkRegistry, type NetworkRegistry } from '../../src/chain/networks.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createNotifications, type Notifications } from '../../src/db/connection/notifications.ts';
import type { TestDatabase } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';

const log = createLogger({ level: 'silent' });
const patience = { interval: 5, timeout: 10_000 };
let registry: NetworkRegistry;

const heard: Notifications[] = [];

function openRegistry({ db, url }: Pick<TestDatabase, 'db' | 'url'>): Promise<NetworkRegistry> {
  const notifications = createNotifications({ url, log });
  heard.push(notifications);
  return createNetworkRegistry({ db, notifications });
}

test.beforeAll(async ({ database }) => {
  registry = await openRegistry(database);
});
afterAll(async () => {
  registry.close();
  for (const notifications of heard) await notifications.close();
});
test.beforeEach(async ({ database }) => {
  await database.db('events').delete();
  await database.db('networks').delete();
});

const url = 'http://127.0.0.1:9';
const mainnet = testNetwork([url], { chainId: '1', hexChainId: '0x1', name: 'Ethereum' });
const largest = testNetwork([url], { chainId: '9007199254740991', hexChainId: '0x1fffffffffffff' });

describe('the network registry', () => {
  const added = async (database: TestDatabase, ...networks: (typeof mainnet)[]) => {
    for (const network of networks) await insertNetwork(database.db, network);
    await vi.waitFor(async () => expect(await registry.list()).toHaveLength(networks.length), patience);
  };

  test('finds any decimal id that is registered', async ({ database }) => {
    await added(database, mainnet, largest);
    expect(await registry.find('1')).toEqual(mainnet);
    expect(await registry.find('9007199254740991')).toEqual(largest);
    expect(await registry.list()).toEqual([mainnet, largest]);
  });

  test.for([
    '',
    '01',
    '0x1',
    '1e0',
    '1.0',
    '+1',
    '-1',
    ' 1',
    '1 ',
    '１',
    '1\0',
    '0',
    '2',
    '1'.repeat(30),
    '\ud800',
  ])('finds nothing for %j, without an error', async (text, { database }) => {
    await added(database, mainnet);
    expect(await registry.find(text)).toBeUndefined();
  });

  test('learns of a new, a changed and a removed network from the database', async ({ database }) => {
    await added(database, mainnet);
    await updateNetwork(database.db, '1', { name: 'Renamed' });
    await vi.waitFor(async () => expect((await registry.find('1'))?.name).toBe('Renamed'), patience);
    await deleteNetwork(database.db, '1');
    await vi.waitFor(async () => expect(await registry.find('1')).toBeUndefined(), patience);
  });

  test('asks the database once for many questions', async ({ database }) => {
    await added(database, mainnet);
    const queries = vi.fn();
    database.db.on('query', queries);
    await Promise.all(Array.from({ length: 50 }, () => registry.find('1')));
    expect(queries.mock.calls.length).toBeLessThanOrEqual(1);
    database.db.removeListener('query', queries);
  });

  test('looks again after a while where no notification comes', async ({ database }) => {
    await database.db.raw('ALTER TABLE networks DISABLE TRIGGER networks_notify');
    await insertNetwork(database.db, mainnet);
    // One that listens only from now on hears nothing of what the other tests did.
    const quiet = await openRegistry(database);
    expect((await quiet.find('1'))?.name).toBe('Ethereum');
    await updateNetwork(database.db, '1', { name: 'Silently renamed' });
    expect((await quiet.find('1'))?.name).toBe('Ethereum');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 16_000 });
    expect((await quiet.find('1'))?.name).toBe('Silently renamed');
    vi.useRealTimers();
    quiet.close();
    await database.db.raw('ALTER TABLE networks ENABLE TRIGGER networks_notify');
  });

  test('says that the service is unavailable when the database does not answer', async ({ database }) => {
    const db = createDatabase('postgres://nobody@127.0.0.1:9/none', { poolMax: 1, log });
    const alone = await openRegistry({ db, url: database.url });
    await expect(alone.find('1')).rejects.toMatchObject({ code: 'service_unavailable' });
    alone.close();
    await db.destroy();
  });
});
