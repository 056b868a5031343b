import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { findNetwork } from '../../src/chain/network-store.ts';
import {
  createNodeAddresses,
  isInClear,
  nodeAddressesOf,
  showAddress,
} from '../../src/chain/rpc/client/node-address.ts';
import { createParts } from '../../src/compose/parts.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { auditedActions, commandLine } from './command-line.ts';
import { test } from './fixtures.ts';

const credential = 'api-key-of-the-provider';
let node: TestNode;
test.beforeAll(async ({ chain }) => {
  node = await startNode(chain.rpcUrl);
});
afterAll(() => node.close());

const row = (db: import('knex').Knex) => db('networks').where({ chain_id: 31337 }).first();
const add = (url: string) => ['network', 'add', '31337', '--name', 'Local', '--symbol', 'ETH', '--rpc', url];

describe('an address with credentials', () => {
  const keys = new Map([['a', Buffer.alloc(32, 1)]]);
  const url = `https://user:pass@node.example/${credential}?k=1`;

  test('is sealed under its public part, and opens with the same key', () => {
    const { open, seal } = createNodeAddresses(keys);
    const sealed = seal(url);
    expect(sealed).not.toMatch(/pass|api-key/);
    expect(showAddress(sealed)).toBe('https://node.example/[redacted]');
    expect([open(sealed), seal(sealed), isInClear(url), isInClear(sealed)]).toEqual([
      url,
      sealed,
      true,
      false,
    ]);
    const other = createNodeAddresses(new Map([['a', Buffer.alloc(32, 2)]]));
    expect(() => other.open(sealed)).toThrow(/does not open with key a of NODE_KEYS or SECRET_KEYS/);
    expect(() => createNodeAddresses().open(sealed)).toThrow(
      /sealed with key a, which neither NODE_KEYS nor SECRET_KEYS has/,
    );
    const moved = sealed.replace('node.example', 'other.example');
    expect(() => open(moved)).toThrow(/does not open/);
  });

  test('is sealed by NODE_KEYS, which open it without SECRET_KEYS, and moves from those', () => {
    const SECRET_KEYS = new Map([['secret', Buffer.alloc(32, 3)]]);
    const NODE_KEYS = new Map([['node', Buffer.alloc(32, 4)]]);
    const before = nodeAddressesOf({ NODE_KEYS: undefined, SECRET_KEYS }).seal(url);
    const indexer = nodeAddressesOf({ NODE_KEYS, SECRET_KEYS: undefined });
    expect(() => indexer.open(before)).toThrow(/sealed with key secret/);
    const sealed = nodeAddressesOf({ NODE_KEYS, SECRET_KEYS }).seal(before);
    expect(indexer.open(sealed)).toBe(url);
  });

  test('is sealed anew under another first key; one without credentials stays', () => {
    const both = createNodeAddresses(new Map([['b', Buffer.alloc(32, 3)], ...keys]));
    const sealed = both.seal(createNodeAddresses(keys).seal(url));
    expect(sealed).toMatch(/^sealed:b:/);
    expect(both.open(sealed)).toBe(url);
    expect(both.seal('http://127.0.0.1:8545')).toBe('http://127.0.0.1:8545');
    expect(both.seal('file:/run/secrets/node')).toBe('file:/run/secrets/node');
  });
});

describe('tallystick network', () => {
  test('stores no credentials in clear, and uses them', async ({ db, json, settings }) => {
    const { status, value } = await json(...add(`${node.url}/${credential}`));
    expect([status, value.rpcUrls]).toEqual([0, [`${node.url}/[redacted]`]]);
    expect(JSON.stringify(await row(db))).not.toContain(credential);
    const doctor = await json('doctor');
    expect(doctor.value).toContainEqual({
      check: 'network 31337',
      state: 'ok',
      detail: `${node.url}/[redacted] is at block 0`,
    });
    expect(JSON.stringify(doctor)).not.toContain(credential);
    const networkStatus = await json('network', 'status', '31337');
    expect(networkStatus.status).toBe(0);
    await using opened = new AsyncDisposableStack();
    const parts = await createParts(loadConfig(settings), createLogger({ level: 'silent' }), opened);
    const network = await findNetwork(db, '31337');
    if (network === undefined) throw new Error('the network is gone');
    expect(await parts.clients.for(network).send('eth_chainId', [])).toBe('0x7a69');
  });

  test('lets doctor tell what an earlier release has written, and seals it', async ({ db, json }) => {
    await db('networks').update({ rpc_urls: [`${node.url}/${credential}`] });
    const warning = expect.objectContaining({
      check: 'addresses',
      state: 'warning',
      detail: 'credentials in clear in the addresses of the nodes of 31337: tallystick network seal',
    });
    expect((await json('doctor')).value).toContainEqual(warning);
    expect((await json('network', 'seal')).value).toEqual([{ chainId: '31337', sealed: 1 }]);
    expect(JSON.stringify(await row(db))).not.toContain(credential);
    expect((await json('doctor')).value).not.toContainEqual(warning);
    expect((await json('network', 'seal')).value).toEqual([{ chainId: '31337', sealed: 0 }]);
    expect(await auditedActions(db)).toContain('network.seal');
  });

  test('seals older rows at their next write', async ({ db, json }) => {
    await db('networks').update({ rpc_urls: [`${node.url}/${credential}`], rpc_sealed: null });
    expect((await json('network', 'update', '31337', '--confirmations', '3')).status).toBe(0);
    expect(JSON.stringify(await row(db))).not.toContain(credential);
  });

  test('refuses a start with another key than sealed an address, by name', async ({ settings }) => {
    const other = { ...settings, SECRET_KEYS: `first:${Buffer.alloc(32, 5).toString('base64')}` };
    await using opened = new AsyncDisposableStack();
    const start = createParts(loadConfig(other), createLogger({ level: 'silent' }), opened);
    await expect(start).rejects.toThrow(/Network 31337: The address .* does not open with key first/);
    expect((await commandLine(other).json('doctor')).status).toBe(1);
  });

  test.for(['', ':secret@', 'user@'])(
    'stores none in clear unless told to: %s',
    async (who, { settings, db }) => {
      const { SECRET_KEYS: _, ...without } = settings;
      const url = node.url.replace('//', `//${who}`) + (who === '' ? `/${credential}` : '');
      const { run } = commandLine({ ...without, AREAS: 'events' });
      const update = ['network', 'update', '31337', '--rpc', url];
      await db('networks').update({ rpc_urls: [node.url], rpc_sealed: null });
      expect(await run(...update)).toMatchObject({
        status: 2,
        err: expect.stringContaining('say --in-clear'),
      });
      expect((await row(db)).rpc_urls).toEqual([node.url]);
      expect((await run(...update, '--in-clear')).status).toBe(0);
      expect((await row(db)).rpc_urls).toEqual([url]);
      await db('networks').update({ rpc_urls: [node.url] });
    },
  );

  test('takes an address from a file', async ({ json, db }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-address-'));
    const file = path.join(folder, 'node');
    await writeFile(file, `${node.url}/${credential}\n`);
    expect((await json('network', 'update', '31337', '--rpc', `file:${file}`)).status).toBe(0);
    expect(await row(db)).toMatchObject({ rpc_urls: [`file:${file}`], rpc_sealed: [null] });
    expect((await json('doctor')).value).toContainEqual(
      expect.objectContaining({ check: 'network 31337', state: 'ok' }),
    );
    await rm(folder, { recursive: true });
    const { value } = await json('doctor');
    expect(value).toContainEqual(
      expect.objectContaining({
        check: 'network 31337',
        state: 'FAULT',
        detail: `The file ${file}, which holds the address of a node, cannot be read (ENOENT).`,
      }),
    );
  });
});
