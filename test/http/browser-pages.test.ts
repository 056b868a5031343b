import { describe, expect } from 'vitest';
import { documents } from '../../src/contract/documents.ts';
import type { Scope } from '../../src/contract/scopes.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { test as base, testWith } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';

const origin = 'https://app.example';
const test = testWith({ settings: { BROWSER_ORIGINS: `https://other.example, ${origin}` } });
const chain = '/blockchain/v1/api';
const networks = `${chain}/networks`;

const keyWith = async ({ db, companies }: TestService, scopes: Scope[] | null) =>
  (await issueKey(db, 'test', { companyId: companies.acme, label: 'page', scopes })).key;

const preflight = (service: TestService, path: string, from: string, wanted = 'GET') =>
  fetch(`${service.baseUrl}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin: from,
      'access-control-request-method': wanted,
      'access-control-request-headers': 'x-api-key',
    },
  });

const get = (service: TestService, path: string, key: string, from = origin) =>
  fetch(`${service.baseUrl}${path}`, { headers: { origin: from, 'x-api-key': key } });

const allowed = ({ headers }: Response) => headers.get('access-control-allow-origin');

describe('a page of a named origin', () => {
  test('asks first without a key, and may then read with a key for browsers', async ({ service }) => {
    const asked = await preflight(service, networks, origin);
    expect([asked.status, allowed(asked)]).toEqual([204, origin]);
    expect(asked.headers.get('access-control-allow-headers')).toContain('x-api-key');
    expect(asked.headers.get('access-control-allow-methods')).toBe('GET');
    expect(asked.headers.get('access-control-allow-credentials')).toBeNull();
    expect(asked.headers.get('vary')).toContain('Origin');
    const answer = await get(service, networks, await keyWith(service, ['chain:read']));
    expect([answer.status, allowed(answer)]).toEqual([200, origin]);
    expect(answer.headers.get('vary')).toContain('Origin');
  });

  test('may read every header that the document names', async ({ service }) => {
    const answer = await preflight(service, networks, origin);
    const read = answer.headers.get('access-control-expose-headers')?.split(', ') ?? [];
    const { headers = {} } = documents.blockchain.components as { headers?: object };
    const responses = JSON.stringify(documents.blockchain.paths).matchAll(/"headers":\{(.*?\})\}/g);
    const named = [...responses].flatMap(([, all = '']) =>
      [...all.matchAll(/"([A-Z][\w-]+)":\{/g)].map(([, name = '']) => name),
    );
    expect(Object.keys(headers).length).toBeGreaterThan(5);
    // Pages read it without leave.
    const wanted = new Set(named);
    wanted.delete('Cache-Control');
    expect([...wanted].filter((name) => !read.includes(name))).toEqual([]);
    expect(wanted.size).toBeGreaterThan(5);
  });

  test.for([
    ['every scope', null, 200],
    ['another scope next to it', ['chain:read', 'events:read'], 200],
    ['another scope', ['events:read'], 403],
  ] as const)('reads nothing with a key that has %s', async ([_, scopes, status], { service }) => {
    const answer = await get(service, networks, await keyWith(service, scopes && [...scopes]));
    expect([answer.status, allowed(answer)]).toEqual([status, null]);
  });

  test('reads why a key is not accepted', async ({ service }) => {
    const answer = await get(service, networks, 'tk_test_nobody');
    expect([answer.status, allowed(answer)]).toEqual([401, origin]);
  });

  test('may not write, and reaches no other area', async ({ service }) => {
    expect((await preflight(service, networks, origin, 'POST')).status).toBe(405);
    const key = await keyWith(service, ['chain:read']);
    for (const path of ['/events/v1/api/event', '/v1/api/rwa', '/news/v1/api/feed']) {
      const asked = await preflight(service, path, origin);
      expect([path, asked.status, allowed(asked)]).toEqual([path, 405, null]);
      expect(allowed(await get(service, path, key))).toBeNull();
    }
  });
});

describe('a page of another origin', () => {
  test.for(['https://app.example.evil', 'http://app.example', 'https://app.example:8443', 'null'])(
    '%s gets 405 as before, and reads nothing',
    async (from, { service }) => {
      const asked = await preflight(service, networks, from);
      expect([asked.status, allowed(asked)]).toEqual([405, null]);
      const answer = await get(service, networks, await keyWith(service, ['chain:read']), from);
      expect([answer.status, allowed(answer)]).toEqual([200, null]);
    },
  );

  base('is every page where no origin is set', async ({ service }) => {
    const asked = await preflight(service, networks, origin);
    expect([asked.status, allowed(asked), asked.headers.get('vary')]).toEqual([405, null, null]);
  });
});
