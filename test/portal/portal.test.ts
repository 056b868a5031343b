import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { buildPortal } from '../../scripts/docs/build.ts';
import { catalogue, problem, problemTitles } from '../../src/base/errors.ts';
import { areas, loadConfig } from '../../src/config/config.ts';
import { basePaths } from '../../src/contract/documents.ts';
import { portalDirectories } from '../../src/http/mounts/portal-files.ts';
import { costOfBytes } from '../../src/http/server/stranger-pace.ts';
import { documentedOperations } from '../contract/documented.ts';
import { deployment, startPortal } from './portal-server.ts';

const root = join(import.meta.dirname, '../..');
const generated = join(root, 'src/contract/generated');
const codes = Object.keys(catalogue);
const guides = [
  ...['authentication', 'networks', 'minting', 'problems', 'paging', 'idempotency', 'limits', 'clients'],
  ...['ticketing', 'models', 'versioning', 'changelog'],
];
const folders: Readonly<Record<string, string>> = {
  'first-nft.md': 'operate/',
  'what-it-does-not-do.md': '',
};
/** The documentation of the project, as the portal has it. */
const manual = [
  ...globSync('*.md', { cwd: join(root, 'docs/operate') }).map((file) => `operate/${file}`),
  ...globSync('{*.md,contributing/*.md,decisions/[0-9]*.md}', { cwd: join(root, 'docs') }).map(
    (file) => `${folders[file] ?? 'internals/'}${file}`,
  ),
  ...['internals/contributing.md', 'internals/security.md', 'internals/decisions.md'],
].map((file) => file.replace(/\.md$/, ''));
const pages = ['', ...guides, ...manual, ...areas, ...codes.map((code) => `problems/${code}`)].map(
  (name) => `/docs/${name}`,
);

let scratch: string;
let directory: string;
let portal: Awaited<ReturnType<typeof startPortal>>;
/** Every page, with the headers that it came with. */
const served = new Map<string, { html: string; headers: Headers }>();

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'tallystick-portal-'));
  directory = join(scratch, 'portal');
  await buildPortal({ directory });
  portal = await startPortal(directory);
  for (const page of pages) {
    const response = await portal.get(page);
    expect([page, response.status]).toEqual([page, 200]);
    served.set(page, { html: await response.text(), headers: response.headers });
  }
});
afterAll(async () => {
  await portal?.close();
  await rm(scratch, { recursive: true, force: true });
});

const attributes = (html: string, tag: string, name: string) =>
  [...html.matchAll(new RegExp(`<${tag}\\s[^>]*?\\b${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

/** A page without the texts of its scripts, in which markup may stand as text. */
const withoutScripts = (html: string) => html.replaceAll(/(<script[^>]*>)[\s\S]*?<\/script>/g, '$1</script>');

function directives(policy: string | null): Map<string, string[]> {
  const parts = (policy ?? '').split('; ').map((directive) => directive.split(' '));
  return new Map(parts.map(([name = '', ...sources]) => [name, sources]));
}

async function contents(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = async (file: string): Promise<[string, string]> => [
    file.slice(folder.length),
    await readFile(file, 'base64'),
  ];
  return new Map(await Promise.all(files.map(read)));
}

test('the portal of partners has no page for operators, and nothing that leads to one', async () => {
  const partners = join(directory, 'partners');
  const files = globSync('**/*', { cwd: partners });
  expect(files).toEqual(
    expect.arrayContaining(['authentication.html', 'rwa.html', 'problems/not_found.html']),
  );
  expect(files.filter((file) => /^(operate|internals)/.test(file))).toEqual([]);
  for (const file of files.filter((name) => /\.(html|js|txt)$/.test(name))) {
    const text = await readFile(join(partners, file), 'utf8');
    expect([file, /(?<!docs\/)(operate|internals)\/[a-z]/.exec(text)?.[0]]).toEqual([file, undefined]);
  }
});

test('PORTAL_PAGES decides which portal is served, without another build', async () => {
  const of = (pages?: string) => {
    const { PORTAL_PAGES } = loadConfig({
      ROLES: 'indexer',
      DATABASE_URL: 'postgres://a@b/c',
      ...(pages && { PORTAL_PAGES: pages }),
    });
    return relative(portalDirectories.all, portalDirectories[PORTAL_PAGES]);
  };
  expect(() => of('none')).toThrow('PORTAL_PAGES');
  for (const [pages, status] of [
    [undefined, 200],
    ['all', 200],
    ['partners', 404],
  ] as const) {
    const portal = await startPortal(join(directory, of(pages)));
    const statuses = [
      '/docs/',
      '/docs/rwa',
      '/docs/redoc/rwa.html',
      '/docs/rwa.json',
      '/docs/operate/deploy',
    ].map(async (path) => (await portal.get(path)).status);
    expect([pages, ...(await Promise.all(statuses))]).toEqual([pages, 200, 200, 200, 200, status]);
    await portal.close();
  }
});

describe('npm run docs', () => {
  test('gives the same bytes for the same sources, and builds only when something has changed', async () => {
    const second = join(scratch, 'second');
    expect(await buildPortal({ directory: second })).toBe(true);
    expect(await contents(second)).toEqual(await contents(directory));
    expect(await buildPortal({ directory: second })).toBe(false);
    expect((await readdir(scratch)).sort()).toEqual(['portal', 'second']);
  });
});

describe('every page', () => {
  test('comes under a policy that names its inline scripts by hash and allows no other host', () => {
    for (const [page, { html, headers }] of served) {
      const policy = directives(headers.get('content-security-policy'));
      const scripts = [...html.matchAll(/<script(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g)].map(
        ([, text = '']) => text,
      );
      const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
      expect([page, policy.get('script-src')?.toSorted()]).toEqual([
        page,
        [...new Set(["'self'", ...hashes])].sort(),
      ]);
      expect(policy.get('default-src')).toEqual(["'none'"]);
      for (const name of ['base-uri', 'frame-ancestors', 'form-action'])
        expect(policy.get(name)).toEqual(["'none'"]);
      const allowed = [...policy].filter(([name]) => name !== 'script-src').flatMap(([, sources]) => sources);
      expect(allowed.filter((source) => !/^('none'|'self'|data:)$/.test(source))).toEqual([]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('has only links that lead somewhere, to the very section', async () => {
    const targets = new Map<string, string>();
    for (const [page, { html }] of served) {
      const text = withoutScripts(html);
      for (const href of [
        ...attributes(text, 'a', 'href'),
        ...attributes(text, 'link', 'href'),
        ...attributes(text, 'script', 'src'),
        ...attributes(text, 'img', 'src'),
      ]) {
        const url = new URL(href, `${portal.base}${page}`);
        if (url.origin === portal.base) targets.set(`${url.pathname}${url.hash}`, page);
      }
    }
    expect(targets.size).toBeGreaterThan(150);
    const texts = new Map<string, string>();
    for (const [target, page] of targets) {
      const { pathname, hash } = new URL(target, portal.base);
      if (!texts.has(pathname)) {
        const response = await portal.get(pathname);
        expect([page, target, response.status]).toEqual([page, target, 200]);
        texts.set(pathname, await response.text());
      }
      const isThere = hash === '' || texts.get(pathname)?.includes(`id="${hash.slice(1)}"`);
      expect([page, target, isThere]).toEqual([page, target, true]);
    }
  });
});

describe('the documentation', () => {
  test('leads from the bar to Operate and Internals, and lists their pages', () => {
    const start = served.get('/docs/')?.html ?? '';
    expect(start).toContain('<a href="operate/first-nft.html">Operate</a>');
    expect(start).toContain('<a href="internals/architecture.html">Internals</a>');
    const listed = ['operate/first-nft', 'internals/architecture'].flatMap((page) => {
      const [, side = ''] =
        /<nav class="side"[^>]*>([\s\S]*?)<\/nav>/.exec(served.get(`/docs/${page}`)?.html ?? '') ?? [];
      return attributes(side, 'a', 'href').map((href) => href.replace(/^\.\.\/(.*)\.html$/, '$1'));
    });
    // The page of limits stands with the guides.
    const isElsewhere = (page: string) => page.includes('decisions/') || page === 'what-it-does-not-do';
    expect(listed.toSorted()).toEqual(manual.filter((page) => !isElsewhere(page)).toSorted());
  });

  test('says on each page what its file says', async () => {
    const text = await readFile(join(root, 'docs/operate/quotas.md'), 'utf8');
    const html = served.get('/docs/operate/quotas')?.html ?? '';
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
    expect(headings.length).toBeGreaterThan(2);
    for (const heading of headings) expect(html).toContain(`>${heading}</a></h`);
    expect(html).toContain('href="../internals/security.html#wrong-claim-secrets"');
  });

  test('leads from a decision to the list and to its neighbours', () => {
    const html = served.get('/docs/internals/decisions/002-documents-are-the-source')?.html ?? '';
    for (const link of [
      'href="../decisions.html">Decisions',
      'rel="prev" href="../../internals/decisions/001-one-database.html"',
      'rel="next" href="../../internals/decisions/003-closed-requests-open-responses.html"',
    ])
      expect(html).toContain(link);
  });
});

describe('serving', () => {
  test('answers with and without .html, and with HEAD as with GET', async () => {
    for (const page of ['/docs/events', '/docs/problems', '/docs/problems/event_full']) {
      const full = await portal.get(`${page}.html`);
      expect(await full.text()).toBe(served.get(page)?.html);
      const head = await portal.get(page, { method: 'HEAD' });
      expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([
        200,
        full.headers.get('etag'),
        '',
      ]);
    }
    expect((await portal.get('/docs')).headers.get('location')).toBe('/docs/');
    expect((await portal.get('/docs/problems/')).headers.get('location')).toBe('/docs/problems');
  });

  test('packs as the caller accepts, lets pages be revalidated, and has assets kept for ever', async () => {
    const etags = new Set<string | null>();
    for (const encoding of ['br', 'gzip', 'identity']) {
      const response = await portal.get('/docs/rwa', { headers: { 'accept-encoding': encoding } });
      expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding);
      expect(response.headers.get('vary')).toBe('Accept-Encoding');
      expect(await response.text()).toBe(served.get('/docs/rwa')?.html);
      const etag = response.headers.get('etag') ?? '';
      etags.add(etag);
      // Not by fetch, which asks for a fresh copy as soon as it is given a condition.
      const again = await request(portal.base)
        .get('/docs/rwa')
        .set({ 'accept-encoding': encoding, 'if-none-match': etag });
      expect(again.status).toBe(304);
    }
    expect(etags.size).toBe(3);
    const [style = ''] = attributes(served.get('/docs/')?.html ?? '', 'link', 'href').filter((href) =>
      href.endsWith('.css'),
    );
    expect((await portal.get(`/docs/${style}`)).headers.get('cache-control')).toContain('immutable');
    expect(served.get('/docs/')?.headers.get('cache-control')).toBe('public, no-cache');
  });
});

test('what is sent counts by its bytes, and what an address has already costs nothing', async () => {
  const costs: (number | undefined)[] = [];
  const pass = async (_request: unknown, _response: unknown, cost?: number) => {
    costs.push(cost);
    if (costs.length > 1) throw problem('rate_limited');
  };
  const own = await startPortal(directory, deployment, { pass });
  const ask = (headers = {}) =>
    request(own.base)
      .get('/docs/rwa')
      .set({ 'accept-encoding': 'identity', ...headers });
  const first = await ask();
  expect(costs).toEqual([costOfBytes(Buffer.byteLength(first.text))]);
  const refused = await ask();
  expect([refused.status, refused.text, refused.get('etag') === first.get('etag')]).toEqual([
    429,
    'rate_limited',
    false,
  ]);
  expect((await ask({ 'if-none-match': first.headers['etag'] })).status).toBe(304);
  expect(costs).toHaveLength(2);
  await own.close();
});

describe('problems', () => {
  test('each have a page with their status, cause and remedy', () => {
    for (const [code, { status }] of Object.entries(catalogue)) {
      const html = served.get(`/docs/problems/${code}`)?.html ?? '';
      for (const text of [
        `<code>${code}</code>`,
        `${status} ${problemTitles[status]}`,
        '<h2>Cause</h2>',
        '<h2>What to do</h2>',
      ]) {
        expect(html).toContain(text);
      }
      expect(served.get('/docs/problems')?.html).toContain(`problems/${code}.html`);
    }
  });

  test('resolve every type that an example of the documents names', async () => {
    for (const area of areas) {
      const text = await readFile(join(generated, `${area}.json`), 'utf8');
      const types = new Set([...text.matchAll(/"type": "(\/docs\/[^"]+)"/g)].map(([, type = '']) => type));
      expect(types.size).toBeGreaterThan(10);
      for (const type of types) expect([type, served.has(type)]).toEqual([type, true]);
    }
  });
});

describe('documents', () => {
  test.each(areas)('of %s are the bundles in both forms, saying where they are served', async (area) => {
    for (const form of [area, `${area}-3.0`]) {
      for (const type of ['json', 'yaml']) {
        const response = await portal.get(`/docs/${form}.${type}`);
        expect(response.headers.get('content-type')).toBe(`application/${type}`);
        expect(response.headers.get('access-control-allow-origin')).toBe('*');
        const { info, servers, ...rest } = parse(await response.text(), { version: '1.1' });
        const built = await readFile(join(generated, `${form}.json`), 'utf8');
        const bundle = JSON.parse(built.replaceAll('http://localhost:3000', deployment.baseUrl));
        expect({ ...rest, info, servers }).toEqual({ ...bundle, info, servers });
        expect(servers).toEqual([
          { url: `${deployment.baseUrl}${basePaths[area]}`, description: 'This service' },
        ]);
        expect(info).toEqual({
          ...bundle.info,
          contact: { name: 'Test Operator support', url: 'mailto:help@test.example' },
        });
        expect(served.get('/docs/clients')?.html).toContain(`href="${form}.${type}"`);
        expect(served.get(`/docs/${area}`)?.html).toContain(`href="${form}.${type}"`);
      }
    }
  });
});

describe('the whole portal', () => {
  test('says where it is served, and nothing of other hosts', async () => {
    const manifest: { files: object } = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8'));
    for (const name of Object.keys(manifest.files)) {
      const text = await (await portal.get(`/docs/${name}`)).text();
      // What operators read names their own machine.
      const isOfOperators = /^(operate|internals|assets\/search)/.test(name);
      const foreign = (isOfOperators ? text.replaceAll('localhost:3000', '') : text).match(
        /here\.invalid|here-operator|here-sample-key|localhost:3000|(?:api|dev|rwa)\.tallystick\.example|support@tally/,
      );
      expect([name, foreign?.[0]]).toEqual([name, undefined]);
    }
    expect(served.get('/docs/authentication')?.html).toContain('</span> api.test.example');
  });

  test('has other tags at another deployment', async () => {
    const other = await startPortal(directory, { ...deployment, baseUrl: 'http://127.0.0.1:4300' });
    try {
      const [here, there] = [await portal.get('/docs/events.yaml'), await other.get('/docs/events.yaml')];
      expect(here.headers.get('etag')).not.toBe(there.headers.get('etag'));
      expect(await there.text()).toContain('http://127.0.0.1:4300/events/v1/api');
    } finally {
      await other.close();
    }
  });
});

describe('the start page', () => {
  test('leads to every operation and shows calls that can be pasted', () => {
    const html = served.get('/docs/')?.html ?? '';
    const operations = attributes(html, 'a', 'href').filter((href) => /\.html#\/[a-z-]+\/[a-z]+$/.test(href));
    expect(operations).toHaveLength(documentedOperations.length);
    const text = html.replaceAll(/<[^>]+>/g, '').replaceAll('&quot;', '"');
    expect(text).toContain('curl -G "https://api.test.example/blockchain/v1/api/token/balance" \\');
  });

  test('leads to every guide', () => {
    const html = served.get('/docs/')?.html ?? '';
    for (const guide of guides) expect([guide, html.includes(`href="${guide}.html"`)]).toEqual([guide, true]);
  });
});

describe('the references', () => {
  test('have the samples and a form of every operation, saying where they are served', () => {
    for (const area of areas) {
      const parts = served.get(`/docs/${area}`)?.html.split('<section class="operation" id="').slice(1) ?? [];
      const own = documentedOperations.filter(({ area: at }) => at === area);
      expect(own.length).toBeGreaterThan(1);
      for (const { id, method, template } of own) {
        const panel = parts.find((part) => part.split('"')[0]?.endsWith(`/${id.toLowerCase()}`)) ?? '';
        expect([id, panel]).toEqual([id, expect.stringContaining('class="try"')]);
        expect(panel).toContain(`data-method="${method.toUpperCase()}" data-path="${template}"`);
        for (const label of ['curl', 'TypeScript', 'Python']) expect(panel).toContain(`>${label}<`);
        expect(panel).toContain(`https://api.test.example${basePaths[area]}/`);
      }
    }
  });

  test('offer the key of the sample where it is served, and nowhere else', async () => {
    const local = await startPortal(directory, { ...deployment, sampleKey: 'tk_local_sample' });
    try {
      for (const area of areas) {
        const offers = (html = '') => attributes(html, 'input', 'data-sample-key');
        expect(new Set(offers(await (await local.get(`/docs/${area}`)).text()))).toEqual(
          new Set(area === 'claim' ? [] : ['tk_local_sample']),
        );
        expect(new Set(offers(served.get(`/docs/${area}`)?.html))).toEqual(
          new Set(area === 'claim' ? [] : ['']),
        );
      }
    } finally {
      await local.close();
    }
  });

  test('may ask the service that serves them, which no other page may', () => {
    for (const [page, { headers }] of served) {
      const wanted = areas.some((area) => page === `/docs/${area}`) ? ["'self'"] : undefined;
      expect([page, directives(headers.get('content-security-policy')).get('connect-src')]).toEqual([
        page,
        wanted,
      ]);
    }
  });
});

describe('what the portal does not have', () => {
  test('is a page with bar and search under a strict policy, also for files that the build keeps for itself', async () => {
    for (const path of [
      'nope',
      'problems/nope',
      'a/b/c',
      'manifest.json',
      '.stamp',
      'events.html.br',
      '%zz',
      '..%2fpackage.json',
      'constructor',
    ]) {
      const response = await portal.get(`/docs/${path}`);
      expect([path, response.status]).toEqual([path, 404]);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await response.text()).toContain('<button type="button" class="find"');
    }
  });

  test('includes other methods, which are the problem method_not_allowed', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await portal.get('/docs/events.yaml', { method });
      expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([
        405,
        'GET, HEAD',
        'method_not_allowed',
      ]);
    }
  });

  test('is everything before the build, and nothing of it after, without a restart', async () => {
    const target = join(scratch, 'later');
    const later = await startPortal(target);
    try {
      const before = await later.get('/docs/');
      expect(before.status).toBe(503);
      expect(await before.text()).toContain('npm run docs');
      await cp(directory, target, { recursive: true });
      expect((await later.get('/docs/')).status).toBe(200);
    } finally {
      await later.close();
    }
  });
});
