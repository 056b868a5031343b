import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { describe, expect } from 'vitest';
import type { Area } from '../../src/contract/documents.ts';
import { type Scope, scopes } from '../../src/contract/scopes.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { contractAddress } from '../rwa/samples.ts';
import { callNode } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { indexChain } from '../support/index-chain.ts';
import type { TestService } from '../support/service.ts';
import { type DocumentedOperation, documentedOperations, documentOf, follow } from './documented.ts';
import { makeKnownData } from './known-data.ts';
import { callRow, type OperationId, rows } from './operations.ts';

const test = base
  .extend('serviceOptions', perFile, ({ chain }) => ({ rpcUrl: chain.rpcUrl }))
  // For requests that must change nothing. What is served changes data of its own.
  .extend('known', perFile, async ({ service }) => ({
    acme: await makeKnownData(service, 'acme'),
    globex: await makeKnownData(service, 'globex'),
  }));

const keys = new Map<Scope, string>();

test.beforeAll(async ({ service, chain }) => {
  await indexChain(service, chain.rpcUrl);
  // The contract of the network, which new RWAs name.
  await callNode(chain.rpcUrl, 'anvil_setCode', [contractAddress, '0x00']);
  const companyId = service.companies.acme;
  for (const scope of scopes) {
    const { key } = await issueKey(service.db, 'test', { companyId, label: scope, scopes: [scope] });
    keys.set(scope, key);
  }
});

/** Everything that a request could change, to be compared before and after a refused one. */
const snapshot = async (service: TestService) => {
  const tables = [
    ...[
      'events',
      'attendees',
      'checkin_scans',
      'revoked_tickets',
      'rwas',
      'nfts',
      'wrong_secrets',
      'idempotency_records',
    ],
    ...['ownership_snapshots', 'news', 'news_endpoints', 'news_deliveries', 'audit_log'],
  ];
  const contents = await Promise.all(tables.map((table) => service.db(table).select().orderBy(1)));
  return JSON.stringify(contents);
};

/** All that a caller could tell two answers apart by, but for their time and id. */
const toldBy = ({ text, headers: { date: _date, 'x-request-id': id, ...headers } }: Response) => ({
  headers,
  text: text.replace(String(id), ''),
});

const minting = ['mintNft', 'createAndMintNft', 'claimNft'];
// A ticket admits whoever has it.
const scopesOf: Readonly<Record<string, readonly Scope[]>> = {
  getTicket: ['events:write'],
  checkInAttendees: ['events:checkin', 'events:write'],
  listRevokedTickets: ['events:checkin', 'events:read'],
  getCheckInSummary: ['events:checkin', 'events:read'],
  getDoor: ['events:checkin', 'events:write', 'events:read'],
};
/** Operations that any key may call. */
const open = ['getBlockchainKey', 'getEventsKey', 'getRwaKey', 'getNewsKey'];

/** What an operation must need, by what it does. The documents say the same, operation by operation. */
const needs: Readonly<Record<Area, (operation: DocumentedOperation) => readonly Scope[]>> = {
  blockchain: () => ['chain:read'],
  events: ({ id, method }) => scopesOf[id] ?? [method === 'get' ? 'events:read' : 'events:write'],
  rwa: ({ id, method }) => [method === 'get' ? 'rwa:read' : minting.includes(id) ? 'rwa:mint' : 'rwa:write'],
  news: () => ['news:manage'],
  claim: () => {
    throw new Error('claims take no key');
  },
};

// What needs no key is tried with none, and every operation with ids that name nothing, by deployment.test.ts.
describe.each(documentedOperations.filter(({ isPublic }) => !isPublic))('$id', (operation) => {
  const { id, area } = operation;
  const row = rows[id as OperationId]; // a row for every operation is made
  const isOpen = open.includes(id);
  const needed = isOpen ? scopes : needs[area](operation);
  const isOfCompany = area !== 'blockchain';

  test('names its scopes in the document', () => {
    expect(operation.requiredScopes).toEqual(isOpen ? ['none'] : needed);
  });

  test('rejects every key that it does not admit, and changes nothing', async ({ service, known }) => {
    const { revoked, noCompany } = service.keys;
    const others = scopes.filter((scope) => !needed.includes(scope));
    const rejected: [key: string | undefined, status: number, code: string][] = [
      [undefined, 401, 'api_key_missing'],
      [revoked, 401, 'api_key_invalid'],
      ...(isOfCompany ? [[noCompany, 403, 'company_required'] as [string, number, string]] : []),
      ...others.map((scope): [string | undefined, number, string] => [
        keys.get(scope),
        403,
        'insufficient_scope',
      ]),
    ];
    const before = await snapshot(service);
    for (const [key, status, code] of rejected) {
      const answer = await callRow(service, row, known.acme, key);
      expect([key, answer.status, answer.body.code]).toEqual([key, status, code]);
    }
    expect(await snapshot(service)).toBe(before);
  });

  test('serves a key of its scope the data of its company', async ({ service, known }) => {
    const ids = row.method === 'get' ? known.acme : await makeKnownData(service, 'acme');
    // What every key may call only reads. The chain belongs to no company.
    const admitted = needed.map((scope) => keys.get(scope));
    for (const key of isOfCompany ? admitted : [...admitted, service.keys.noCompany]) {
      expect([key, (await callRow(service, row, ids, key)).status]).toEqual([key, row.own]);
    }
  });

  test('admits a key for one event to the door of this event alone', async ({ service, known }) => {
    const companyId = service.companies.acme;
    const { eventId } = known.acme;
    const given = { companyId, label: 'door', scopes: ['events:checkin'], eventId };
    const { key } = await issueKey(service.db, 'test', given);
    const other = await makeKnownData(service, 'acme');
    const before = await snapshot(service);
    const answer = await callRow(service, row, other, key);
    const isOfDoor = needed.includes('events:checkin');
    expect(answer.status).toBe(isOpen ? 200 : isOfDoor ? 404 : 403);
    expect(await snapshot(service)).toBe(before);
    if (!isOfDoor) return;
    const unknown = await callRow(service, row, { ...other, eventId: randomUUID() }, key);
    if (!isOpen) expect(toldBy(answer)).toEqual(toldBy(unknown));
    expect((await callRow(service, row, known.acme, key)).status).toBe(row.own);
  });

  const { addressed } = row;
  if (addressed === undefined) return;

  test("shows nothing of another company's data and leaves it as it is", async ({ service, known }) => {
    const foreign = known.globex;
    const unknown = { ...foreign, [addressed.by]: randomUUID() };
    const before = await snapshot(service);
    const answerToForeign = await callRow(service, row, foreign, service.keys.acme);
    const answerToUnknown = await callRow(service, row, unknown, service.keys.acme);
    expect(answerToForeign.status).toBe(addressed.foreign);
    expect(answerToUnknown.status).toBe(addressed.unknown);
    if (addressed.foreign === addressed.unknown) {
      expect(toldBy(answerToForeign)).toEqual(toldBy(answerToUnknown));
    }
    expect(await snapshot(service)).toBe(before);
  });
});

test('claim secrets are null for keys without secrets:read, and their URLs with them', () => {
  const document = documentOf('rwa');
  const withSecret = Object.entries(document['components']?.['schemas'] ?? {}).filter(
    ([name, { properties }]) => properties?.['secret'] !== undefined && !name.endsWith('Request'),
  );
  expect(withSecret.map(([name]) => name).toSorted()).toEqual(['Nft', 'NftDetail', 'NftWithRwa']);
  for (const [name, schema] of withSecret) {
    for (const field of ['secret', 'url']) {
      const found = follow(document, schema['properties']?.[field] ?? {}).node;
      expect([name, field, found['x-required-scope']]).toEqual([name, field, 'secrets:read']);
      expect(found['type']).toEqual(['string', 'null']);
    }
  }
});
