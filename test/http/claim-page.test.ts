import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { pagesFolder } from '../pages/page-modules.ts';
import { test } from '../support/fixtures.ts';
import { startService } from '../support/service.ts';

const nftId = randomUUID();
const page = `/claim/${nftId}`;
const get = (baseUrl: string, path: string, init?: RequestInit) =>
  fetch(`${baseUrl}${path}`, { redirect: 'manual', ...init });

const languages = ['en', 'de', 'fr', 'es', 'pt'];

describe('the claim page', () => {
  test('is the same for every NFT, may load nothing but its own, and leaks no address', async ({
    service,
  }) => {
    const answer = await get(service.baseUrl, page);
    const html = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await (await get(service.baseUrl, `/claim/${randomUUID()}`)).text()).toBe(html);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|here\.invalid|here-operator/);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' http: https: data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
      'cross-origin-opener-policy': 'same-origin',
    });
  });

  test('has every file that it asks for, each with an ETag that spares it', async ({ service }) => {
    // Of the texts, a browser loads those of its language.
    const asked = new Set(['page.html', ...languages.map((language) => `assets/text-${language}.js`)]);
    for (const name of asked) {
      const path = name === 'page.html' ? page : `/claim/${name}`;
      const answer = await get(service.baseUrl, path);
      expect([name, answer.status]).toEqual([name, 200]);
      const etag = answer.headers.get('etag') ?? '';
      const again = await get(service.baseUrl, path, {
        headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
      });
      expect([again.status, await again.text()]).toEqual([304, '']);
      const head = await get(service.baseUrl, path, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).toEqual([
        200,
        answer.headers.get('content-length'),
      ]);
      const found = (await answer.text()).matchAll(/(?:"|from ')((?:\.\.?|assets|shared)\/[\w./-]+)/g);
      for (const [, other = ''] of found) asked.add(new URL(other, `http://x/${name}`).pathname.slice(1));
    }
    const own = readdirSync(new URL('claim/', pagesFolder)).map((name) => `assets/${name}`);
    const shared = [...asked].filter((name) => name.startsWith('shared/'));
    expect([...asked].sort()).toEqual(
      ['page.html', ...own.filter((name) => name !== 'assets/page.html'), ...shared].sort(),
    );
  });

  test.for(['/claim', '/claim/', '/claim?from=mail'])(
    '%s is a page of its own',
    async (path, { service }) => {
      const answer = await get(service.baseUrl, path);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      for (const [, file = ''] of (await answer.text()).matchAll(
        /(?:href|src)="([\w./-]*(?:assets|shared)[^"]*)"/g,
      )) {
        const found = await fetch(new URL(file, `${service.baseUrl}${path}`));
        expect([file, found.status]).toEqual([file, 200]);
      }
      const head = await get(service.baseUrl, path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    },
  );

  test.for([
    [`${page}/`, `../${nftId}`],
    [`${page}/?from=mail`, `../${nftId}?from=mail`],
  ] as const)('%s leads to the page without the slash', async ([path, location], { service }) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(service.baseUrl, path, { method });
      expect([answer.status, answer.headers.get('location')]).toEqual([308, location]);
    }
    expect((await get(service.baseUrl, path, { method: 'POST' })).status).toBe(405);
  });

  test('names help only where the operator has some, and never the portal', async ({
    service,
    databaseUrl,
  }) => {
    const plain = await (await get(service.baseUrl, page)).text();
    expect(plain).not.toMatch(/<a [^>]*href|docs/);
    const [supportUrl, walletHelpUrl] = ['mailto:help@acme.example', 'https://acme.example/wallet?a=1'];
    const settings = { DATABASE_URL: databaseUrl, SUPPORT_URL: supportUrl, WALLET_HELP_URL: walletHelpUrl };
    const other = await startService({ settings });
    for (const path of [page, '/claim']) {
      const html = await (await get(other.baseUrl, path)).text();
      expect(
        [...html.matchAll(/<a id="([\w-]+)"[^>]* href="([^"]*)">/g)].map(([, ...found]) => found),
      ).toEqual([
        ['wallet-help', walletHelpUrl],
        ['help', supportUrl],
      ]);
    }
    await other.close();
  });

  test.for([
    ['/claim/cut-short', 404, 'text/html; charset=utf-8'],
    ['/claim/assets/page.html', 404, 'application/problem+json'],
    ['/claim/assets/..%2fpage.html', 404, 'application/problem+json'],
    [`${page}/more`, 404, 'application/problem+json'],
    [`${page}//`, 404, 'application/problem+json'],
    ['/claim/cut-short/', 404, 'application/problem+json'],
    ['/Claim', 404, 'application/problem+json'],
  ] as const)('%s is %i', async ([path, status, type], { service }) => {
    const answer = await get(service.baseUrl, path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type]);
  });

  test('takes no other method', async ({ service }) => {
    const answer = await get(service.baseUrl, page, { method: 'POST', body: 'x' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('is not there where the area is not served', async ({ databaseUrl }) => {
    const other = await startService({ settings: { AREAS: 'events', DATABASE_URL: databaseUrl } });
    expect((await get(other.baseUrl, page)).status).toBe(404);
    expect((await get(other.baseUrl, '/claim/v1/api/claims/x')).status).toBe(404);
    await other.close();
  });
});
