import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';
import { isPublicAddress } from '../../src/outgoing/public-address.ts';
import { listDueMetadata } from '../../src/providers/indexer/store/tokens/metadata-store.ts';
import { createMetadataFetcher, isFetched } from '../../src/providers/indexer/tokens/metadata-fetcher.ts';
import { createMetadataFiller } from '../../src/providers/indexer/tokens/metadata-filler.ts';
import { createMetadataHosts } from '../../src/providers/indexer/tokens/metadata-hosts.ts';
import { test } from '../support/fixtures.ts';
import { shut, startListening } from '../support/listen.ts';
import { testNetwork } from '../support/networks.ts';
import { alice, token } from './raw-answers.ts';
import { readerOf } from './reader.ts';

const asked: string[] = [];
let host: string;

const cids = [`Qm${'a'.repeat(44)}`, `b${'a'.repeat(58)}`] as const;

const pages: Record<string, (response: ServerResponse, request: IncomingMessage) => void> = {
  '/1': (response) =>
    response.end('{"name":"Cask 1","image":"https://a.test/1.png","attributes":[{"value":3}]}'),
  '/to-1': (response) => response.writeHead(302, { location: '/1' }).end(),
  '/round': (response) => response.writeHead(302, { location: '/round' }).end(),
  '/inside': (response) => response.writeHead(302, { location: 'https://169.254.169.254/latest' }).end(),
  '/gone': (response) => response.writeHead(404).end('{}'),
  '/page': (response) => response.end('<html></html>'),
  '/list': (response) => response.end('[1]'),
  '/large': (response) => response.end(`{"a":"${'x'.repeat(20_000)}"}`),
  '/silent': () => {},
  '/picture': (response) =>
    response.end(JSON.stringify({ name: 'Cask 9', image_data: 'x'.repeat(70_000), description: 'short' })),
  '/many': (response) =>
    response.end(
      JSON.stringify(Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`key ${i}`, i]))),
    ),
  '/secret': (response) => response.end('{"name":"not of the gateway"}'),
  '/ipfs/Qm/1.json': (response) => response.end('{"name":"from ipfs"}'),
  [`/ipfs/${cids[0]}`]: (response) => response.end('{"name":"from a bare id"}'),
  [`/ipfs/${cids[1]}/1.json`]: (response) => response.end('{"name":"from a bare id"}'),
  '/ar/B5xlrHT/1.json': (response) => response.end('{"name":"from arweave"}'),
  '/marked': (response) => response.end('\uFEFF{"name":"marked"}'),
};
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  pages[request.url ?? '']?.(response, request);
});

beforeAll(async () => {
  host = `127.0.0.1:${await startListening(server)}`;
});

afterAll(() => shut(server));

const fetcher = (allowed = true, maxBytes = 10_000, timeoutMs = 10_000) =>
  createMetadataFetcher({
    ipfsGateway: `http://${host}/ipfs/`,
    arweaveGateway: `http://${host}/ar`,
    timeoutMs,
    maxBytes,
    hosts: createMetadataHosts({ outgoing: createOutgoing(), allowedHosts: new Set(allowed ? [host] : []) }),
  });

describe('metadata', () => {
  test('are fetched from hosts, over redirects, from ipfs and from the URI itself', async () => {
    const { fetch } = fetcher();
    expect(JSON.parse(await fetch(`http://${host}/to-1`))).toMatchObject({ name: 'Cask 1' });
    expect(await fetch('ipfs://Qm/1.json')).toBe('{"name":"from ipfs"}');
    expect(await fetch('ipfs://ipfs/Qm/1.json')).toBe('{"name":"from ipfs"}');
    const base64 = Buffer.from('{"name":"own"}').toString('base64');
    expect(await fetch(`data:application/json;base64,${base64}`)).toBe('{"name":"own"}');
    expect(await fetch('data:application/json,{"name":"100%"}')).toBe('{"name":"100%"}');
  });

  test('are read as others do where the URI is something else, or the text begins with a mark', async () => {
    const { fetch } = fetcher();
    expect(await fetch('ar://B5xlrHT/1.json')).toBe('{"name":"from arweave"}');
    expect(await fetch(cids[0])).toBe('{"name":"from a bare id"}');
    expect(await fetch(` ${cids[1]}/1.json`)).toBe('{"name":"from a bare id"}');
    expect(await fetch(' {"name":"itself"}')).toBe('{"name":"itself"}');
    expect(await fetch(`http://${host}/marked`)).toBe('{"name":"marked"}');
    const base64 = Buffer.from('\uFEFF{"name":"marked"}').toString('base64');
    expect(await fetch(`data:application/json;base64,${base64}`)).toBe('{"name":"marked"}');
    await expect(fetch(`{"name":"${'x'.repeat(10_000)}"}`)).rejects.toThrow('over 10000 bytes');
    await expect(fetch('ar://../secret')).rejects.toThrow('leaves the gateway');
    expect(['ar://x/1', cids[0], 'ipfs://x', 'https://a.test'].every(isFetched)).toBe(true);
    expect(['{}', 'data:,{}', 'QmShort'].some(isFetched)).toBe(false);
  });

  test.each(['/round', '/gone', '/page', '/list', '/large', '/silent'])('are none at %s', async (path) => {
    await expect(fetcher(true, 10_000, 300).fetch(`http://${host}${path}`)).rejects.toThrow();
    // A question that was given up may arrive later.
    await expect.poll(() => asked).toContain(path);
  });

  test('are not asked for a while of a host that was silent for seconds, and of others as ever', async () => {
    let now = 1_000_000;
    const outgoing = createOutgoing({ now: () => now });
    const named = host.replace('127.0.0.1', 'localhost');
    const { fetch } = createMetadataFetcher({
      ipfsGateway: `http://${host}/ipfs/`,
      arweaveGateway: `http://${host}/ar`,
      timeoutMs: 100,
      maxBytes: 10_000,
      hosts: createMetadataHosts({ outgoing, allowedHosts: new Set([host, named]) }),
    });
    asked.length = 0;
    for (let count = 1; count <= 2; count += 1) {
      now += 2_000;
      await expect(fetch(`http://${host}/silent`)).rejects.toThrow('no answer within');
      // A question that was given up may arrive later.
      await expect.poll(() => asked).toHaveLength(count);
    }
    asked.length = 0;
    await expect(fetch(`http://${host}/1`)).rejects.toThrow(
      `circuit breaker of metadata http://${host} is open`,
    );
    expect(asked).toEqual([]);
    expect(JSON.parse(await fetch(`http://${named}/1`))).toMatchObject({ name: 'Cask 1' });
    now += 1_000;
    expect(JSON.parse(await fetch(`http://${host}/1`))).toMatchObject({ name: 'Cask 1' });
  });

  test('come from any number of hosts, of which the last 500 are remembered', async () => {
    const outgoing = createOutgoing();
    const hosts = createMetadataHosts({ outgoing, allowedHosts: new Set() });
    for (let count = 0; count < 600; count += 1) hosts.of(new URL(`https://h${count}.test/1`));
    expect(outgoing.callees()).toHaveLength(500);
    expect(hosts.of(new URL('https://h599.test/2'))).toBe(hosts.of(new URL('https://h599.test/3')));
    // What strangers choose is no label.
    expect(new Set(outgoing.callees().map(({ label }) => label))).toEqual(new Set(['']));
  });

  test('are kept up to 64 kB, and say what was left out', async () => {
    const { fetch } = fetcher(true, 1_000_000);
    expect(JSON.parse(await fetch(`http://${host}/picture`))).toEqual({
      name: 'Cask 9',
      description: 'short',
      _truncated: ['image_data'],
    });
    const many = await fetch(`http://${host}/many`);
    expect(Buffer.byteLength(many)).toBeLessThanOrEqual(65_536);
    expect(JSON.parse(many)).toMatchObject({ 'key 1': 1, _truncated: expect.any(Array) });
  });

  test('are none when a data: URI holds too many bytes', async () => {
    const content = JSON.stringify({ name: 'x'.repeat(10_000) });
    await expect(fetcher().fetch(`data:application/json,${content}`)).rejects.toThrow('over 10000 bytes');
    const base64 = Buffer.from(content).toString('base64');
    await expect(fetcher().fetch(`data:application/json;base64,${base64}`)).rejects.toThrow('over 10000');
  });

  test.each([
    '../secret',
    '..%2fsecret/../../secret',
    '%2e%2e/secret',
    'Qm/../../secret',
    '\\..\\..\\secret',
  ])('never leave the gateway at ipfs://%s', async (path) => {
    asked.length = 0;
    await expect(fetcher().fetch(`ipfs://${path}`)).rejects.toThrow('leaves the gateway');
    expect(asked).toEqual([]);
  });

  test('are never fetched from inside, by address, by name or by redirect', async () => {
    asked.length = 0;
    const { fetch } = fetcher(false);
    const inside = [`http://${host}/1`, `https://${host}/1`, 'https://localhost/1', 'https://[::1]/1'];
    const disguised = [
      'https://2130706433/',
      'https://0x7f.1/',
      'https://[::ffff:127.0.0.1]/',
      'ftp://a.test/1',
      'x',
    ];
    for (const uri of [...inside, ...disguised]) await expect(fetch(uri)).rejects.toThrow();
    expect(asked).toEqual([]);
    await expect(fetcher().fetch(`http://${host}/inside`)).rejects.toThrow('no public host');
  });

  const ours = [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
  ];
  const odd = [
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:8.8.8.8',
    'fc00::1',
    'fe80::1',
    '2002:7f00:1::',
    '64:ff9b::1',
  ];

  test.each([...ours, ...odd, 'localhost', ''])('take "%s" for no public address', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(['8.8.8.8', '172.32.0.1', '2606:4700::1111'])('take %s for a public address', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('the metadata of an owned token', () => {
  test.beforeAll(async ({ db }) => {
    const bytesOf = (text: string) => Buffer.from(text.slice(2), 'hex');
    const key = { chain_id: '31337', contract: bytesOf(token) };
    await db('index_state').insert({
      chain_id: '31337',
      start_block: 0,
      head_number: 9,
      head_hash: '',
      head_time: new Date(),
    });
    for (const [token_id, path] of ['/1', '/page'].entries()) {
      await db('nft_tokens').insert({
        ...key,
        token_id,
        standard: 721,
        token_uri: `http://${host}${path}`,
        metadata_due: new Date(0),
      });
      await db('nft_holdings').insert({
        ...key,
        token_id,
        standard: 721,
        wallet: bytesOf(alice),
        amount: 1,
        acquired_block: 5,
        acquired_log: token_id,
        changed_block: 5,
      });
    }
  });

  test('stand in the list, as text and in the uniform shape; what cannot be had is null and tried later', async ({
    database,
  }) => {
    const log = createLogger({ level: 'silent' });
    await createMetadataFiller({ chainId: '31337', db: database.db, fetcher: fetcher(), log })();
    expect(await listDueMetadata(database.db, '31337', 5)).toEqual([]);
    const due = await database.db('nft_tokens').orderBy('token_id').pluck('metadata_due');
    expect(due).toEqual([null, expect.any(Date)]);
    const { entries } = await readerOf(database, testNetwork([`http://${host}`])).nfts(alice);
    expect(entries.map(({ metadata }) => metadata)).toEqual([expect.stringContaining('Cask 1'), null]);
    expect(entries[0]?.normalized_metadata).toMatchObject({ name: 'Cask 1', attributes: [{ value: 3 }] });
    expect(entries[1]).not.toHaveProperty('normalized_metadata');
    expect(entries.every(({ last_metadata_sync: at }) => at !== null)).toBe(true);
  });
});
