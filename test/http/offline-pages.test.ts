import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect } from 'vitest';
import { languages } from '../pages/page-modules.ts';
import { test } from '../support/fixtures.ts';
import { startService } from '../support/service.ts';

const get = (baseUrl: string, path: string, init?: RequestInit) =>
  fetch(`${baseUrl}${path}`, { redirect: 'manual', ...init });

/** The digests of all files of a page, as its worker has them. */
async function filesOf(baseUrl: string, page: string): Promise<Record<string, string>> {
  const worker = await (await get(baseUrl, `${page}/worker.js`)).text();
  return JSON.parse(/^self\.files = (.+);$/m.exec(worker)?.[1] ?? '');
}

describe.for([
  ['/door', "connect-src 'self'; "],
  ['/ticket', ''],
] as const)('the page %s', ([page, connect]) => {
  test('may load nothing but its own, and leaks no address', async ({ service }) => {
    const answer = await get(service.baseUrl, page);
    const html = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(html).not.toMatch(
      /<script(?![^>]*\ssrc=)|<style|\son\w+=|here\.invalid|here-operator|<a [^>]*href/,
    );
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; ${connect}img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'`,
      'cache-control': 'public, no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
      'cross-origin-opener-policy': 'same-origin',
    });
  });

  test('keeps every file that it asks for, each by its digest', async ({ service }) => {
    const files = await filesOf(service.baseUrl, page);
    const asked = new Set(['', ...languages.map((language) => `/assets/text-${language}.js`)]);
    asked.add('/qr/decode.js');
    for (const rest of asked) {
      const answer = await get(service.baseUrl, `${page}${rest}`);
      const text = await answer.text();
      expect([rest, answer.status]).toEqual([rest, 200]);
      expect([rest, createHash('sha256').update(text).digest('base64url')]).toEqual([rest, files[rest]]);
      const found = text.matchAll(/(?:"|from '|import\('|URL\(')((?:\.\.?|door|ticket)\/[\w./-]+)/g);
      for (const [, other = ''] of found)
        asked.add(new URL(other, `http://x${page}${rest}`).pathname.slice(page.length));
    }
    const unknown = [...asked].filter((rest) => !(rest in files) && rest !== '/worker.js');
    expect(unknown).toEqual([]);
    // A file that is kept and never asked for is of another page.
    const own = Object.keys(files).filter((rest) => rest.startsWith('/assets/'));
    expect(own.filter((rest) => !asked.has(rest))).toEqual([]);
  });

  test('has a worker for its address, and another worker for another release', async ({
    service,
    databaseUrl,
  }) => {
    const answer = await get(service.baseUrl, `${page}/worker.js`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'service-worker-allowed': `..${page}`,
      'cache-control': 'public, no-cache',
    });
    const settings = { DATABASE_URL: databaseUrl, OPERATOR_NAME: 'Somebody else' };
    const other = await startService({ settings });
    const changed = await filesOf(other.baseUrl, page);
    const { '': html, ...files } = await filesOf(service.baseUrl, page);
    expect(changed).toEqual({ ...files, '': expect.not.stringMatching(html ?? '') });
    await other.close();
  });

  test('has the package for QR codes as it was published', async ({ service }) => {
    for (const name of ['index.js', 'decode.js']) {
      const file = new URL(name, `file://${createRequire(import.meta.url).resolve('qr')}`);
      const served = await (await get(service.baseUrl, `${page}/qr/${name}`)).text();
      expect(served).toBe(readFileSync(file, 'utf8'));
    }
  });

  test('is without the slash at its end, and without methods but reading', async ({ service }) => {
    for (const [given, location] of [
      [`${page}/`, `..${page}`],
      [`${page}/?from=mail`, `..${page}?from=mail`],
    ] as const) {
      const answer = await get(service.baseUrl, given);
      expect([answer.status, answer.headers.get('location')]).toEqual([308, location]);
    }
    for (const path of [page, `${page}/`, `${page}/worker.js`, `${page}/assets/page.js`]) {
      const answer = await get(service.baseUrl, path, { method: 'POST', body: 'x' });
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
    }
    for (const path of [
      `${page}/x`,
      `${page}/assets/page.html`,
      `${page}/assets/..%2fpage.html`,
      `${page}//`,
    ]) {
      expect([path, (await get(service.baseUrl, path)).status]).toEqual([path, 404]);
    }
  });

  test('is not there where the area is not served', async ({ databaseUrl }) => {
    const other = await startService({ settings: { AREAS: 'blockchain', DATABASE_URL: databaseUrl } });
    expect((await get(other.baseUrl, page)).status).toBe(404);
    await other.close();
  });
});
