import { describe, expect } from 'vitest';
import { type Area, areas } from '../../src/contract/documents.ts';
import { type Scope, scopes } from '../../src/contract/scopes.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { contractAddress } from '../rwa/samples.ts';
import { callNode } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { indexChain } from '../support/index-chain.ts';
import type { TestService } from '../support/service.ts';
import {
  type DocumentedOperation,
  documentedOperations,
  documentOf,
  follow,
  type Json,
} from './documented.ts';
import { makeKnownData } from './known-data.ts';
import { type Ids, type OperationId, rows } from './operations.ts';

const test = base
  .extend('serviceOptions', perFile, ({ chain }) => ({ rpcUrl: chain.rpcUrl }))
  // For requests that change nothing.
  .extend('known', perFile, ({ service }) => makeKnownData(service, 'acme'));

const keys = new Map<Scope, string>();

test.beforeAll(async ({ service, chain }) => {
  await indexChain(service, chain.rpcUrl);
  await callNode(chain.rpcUrl, 'anvil_setCode', [contractAddress, '0x00']);
  const companyId = service.companies.acme;
  for (const scope of scopes) {
    const { key } = await issueKey(service.db, 'test', { companyId, label: scope, scopes: [scope] });
    keys.set(scope, key);
  }
});

const minting = ['mintNft', 'createAndMintNft', 'claimNft'];
// A ticket admits whoever has it.
const readingOf = (id: string) => (id === 'getTicket' ? 'events:write' : 'events:read');
/** Operations that any key may call. */
const open = ['getBlockchainKey', 'getEventsKey', 'getRwaKey', 'getNewsKey'];

/** What an operation must need, by what it does. The documents say the same, operation by operation. */
const needs: Readonly<Record<Area, (operation: DocumentedOperation) => Scope>> = {
  blockchain: () => 'chain:read',
  events: ({ id, method }) => (method === 'get' ? readingOf(id) : 'events:write'),
  rwa: ({ id, method }) => (method === 'get' ? 'rwa:read' : minting.includes(id) ? 'rwa:mint' : 'rwa:write'),
  news: () => 'news:manage',
  claim: () => {
    throw new Error('claims take no key');
  },
};

const neededBy = (operation: DocumentedOperation): Scope | 'none' =>
  open.includes(operation.id) ? 'none' : needs[operation.area](operation);

const call = (service: TestService, id: string, ids: Ids, key: string | undefined) => {
  const row = rows[id as OperationId]; // a row for every operation is compiled and tested
  const sending = service.as(key)[row.method](row.path(ids));
  return row.body === undefined ? sending : sending.send(row.body(ids));
};

const keyed = documentedOperations.filter(({ isPublic }) => !isPublic);

describe.each(keyed)('$id', (operation) => {
  const { id } = operation;
  const needed = neededBy(operation);

  test('names its scope in the document', () => {
    expect(operation.requiredScope).toBe(needed);
  });

  test('rejects a key with each other scope before anything else, and changes nothing', async ({
    service,
    known,
  }) => {
    const contents = () =>
      Promise.all(
        ['events', 'attendees', 'rwas', 'nfts', 'idempotency_records', 'news_endpoints', 'audit_log'].map(
          (table) => service.db(table).select().orderBy(1),
        ),
      );
    const before = await contents();
    const outcomes: Record<string, unknown> = {};
    for (const scope of scopes.filter((each) => each !== needed && needed !== 'none')) {
      const { status, body } = await call(service, id, known, keys.get(scope));
      outcomes[scope] = [status, body.code, body.detail];
    }
    const others = scopes.filter((each) => each !== needed && needed !== 'none');
    const rejected = [403, 'insufficient_scope', `API key lacks the scope ${needed}`];
    expect(outcomes).toEqual(Object.fromEntries(others.map((scope) => [scope, rejected])));
    expect(await contents()).toEqual(before);
  });

  test('admits a key with its scope', async ({ service }) => {
    const ids = await makeKnownData(service, 'acme');
    // What every key may call only reads.
    for (const scope of needed === 'none' ? scopes : [needed]) {
      expect((await call(service, id, ids, keys.get(scope))).status).toBe(rows[id as OperationId].own);
    }
  });
});

test('a key with events:read alone reads events, and can do nothing else', async ({ service, known }) => {
  const admitted: string[] = [];
  for (const { id } of keyed) {
    const { status } = await call(service, id, known, keys.get('events:read'));
    if (status !== 403) admitted.push(id);
  }
  const reading = keyed.filter((operation) => neededBy(operation) === 'events:read');
  expect(admitted.toSorted()).toEqual([...new Set([...reading.map(({ id }) => id), ...open])].toSorted());
  expect(admitted).toContain('listEvents');
});

/** Every schema of a document, with the names that lead to it. */
function* schemasOf(document: Json): Generator<[string, Json]> {
  for (const [name, schema] of Object.entries(document['components']?.['schemas'] ?? {}))
    yield [name, schema];
}

describe('claim secrets', () => {
  const withSecret = areas.flatMap((area) =>
    [...schemasOf(documentOf(area))].filter(
      ([name, { properties }]) =>
        area === 'rwa' && properties?.['secret'] !== undefined && !name.endsWith('Request'),
    ),
  );

  test.each(withSecret)(
    'in %s are null for keys without secrets:read, and their URLs with them',
    (_name, schema) => {
      for (const field of ['secret', 'url']) {
        const found = follow(documentOf('rwa'), schema['properties']?.[field] ?? {}).node;
        expect([field, found['x-required-scope'], found['type']]).toEqual([
          field,
          'secrets:read',
          ['string', 'null'],
        ]);
      }
    },
  );

  test('are in some schemas', () => {
    expect(withSecret.map(([name]) => name).toSorted()).toEqual(['Nft', 'NftDetail', 'NftWithRwa']);
  });
});
