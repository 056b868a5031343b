import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { documents } from '../../src/contract/documents.ts';
import { documentedOperations, documentOf, follow, type Json } from './documented.ts';

const folder = resolve(import.meta.dirname, '../../src/contract/generated');
const read = (file: string) => readFile(join(folder, file), 'utf8');

describe('a document as YAML', () => {
  const files = Object.keys(documents).flatMap((area) => [area, `${area}-3.0`]);

  // What most parsers go by: PyYAML, js-yaml up to 4, Psych.
  test.each(files)('%s says the same to a reader of YAML 1.1', async (file) => {
    expect(parse(await read(`${file}.yaml`), { version: '1.1' })).toEqual(
      JSON.parse(await read(`${file}.json`)),
    );
  });
});

describe('examples of one operation', () => {
  const successes = documentedOperations.flatMap(({ area, id, responses }) =>
    responses
      .filter(({ status }) => status < 300)
      .map(({ node }) => ({ id, document: documentOf(area), node })),
  );
  const headerOf = (document: Json, node: Json, name: string) => {
    const header = node['headers']?.[name];
    return header && follow(document, header).node;
  };

  test('agree on the id of what was created', () => {
    const seen = successes.flatMap(({ id, document, node }) => {
      const location = headerOf(document, node, 'Location');
      const [first] = Object.values(node['content']?.['application/json']?.['examples'] ?? {});
      if (location === undefined || first === undefined) return [];
      return [
        [id, String(location['example']).split('/').at(-1), follow(document, first).node['value']?.['id']],
      ];
    });
    expect(seen.length).toBeGreaterThan(0);
    for (const [id, inHeader, inBody] of seen) expect([id, inHeader]).toEqual([id, inBody]);
  });

  test('say of a first answer that it is none, but where they are named after the repeat', () => {
    const replayed = successes.flatMap(
      ({ document, node }) => headerOf(document, node, 'Idempotency-Replayed') ?? [],
    );
    expect(replayed.length).toBeGreaterThan(0);
    for (const header of replayed) expect(Object.keys(header['examples'] ?? {})).toEqual(['replayed']);
  });

  test('leave no more requests than the limit allows', () => {
    const number = (header: Json | undefined, name: string) =>
      Number(String(header?.['example']).match(new RegExp(`;${name}=(\\d+)`))?.[1]);
    const limits = successes.flatMap(({ document, node }) => {
      const left = number(headerOf(document, node, 'RateLimit'), 'r');
      const quota = number(headerOf(document, node, 'RateLimit-Policy'), 'q');
      return Number.isNaN(left) ? [] : [{ left, quota }];
    });
    expect(limits.length).toBeGreaterThan(0);
    for (const { left, quota } of limits) expect(left).toBeLessThan(quota);
  });

  // A mock answers with the first example: whoever follows its pages has to come to an end.
  test('begin with a last page, and show elsewhere how one goes on', () => {
    const cursors = successes.flatMap(({ id, document, node }) => {
      if (headerOf(document, node, 'Link') === undefined) return [];
      const pages = Object.values(node['content']?.['application/json']?.['examples'] ?? {}).map(
        (example) => {
          const { value = {} } = follow(document, example as Json).node;
          return value['history']?.['cursor'] ?? value['cursor'] ?? null;
        },
      );
      return [{ id, pages }];
    });
    expect(cursors.length).toBeGreaterThan(5);
    for (const { id, pages } of cursors) expect([id, pages[0]]).toEqual([id, null]);
    const goOn = cursors.filter(({ pages }) => pages.some((cursor) => cursor !== null));
    expect(goOn.map(({ id }) => id)).toEqual(['listWalletNfts', 'getWalletHistory']);
  });

  test('tell of a next page in headers only as what stands on some pages, by one cursor', () => {
    const seen = successes.flatMap(({ id, document, node }) => {
      const [link, cursor] = ['Link', 'X-Next-Cursor'].map((name) => headerOf(document, node, name));
      return link === undefined ? [] : [{ id, link, cursor }];
    });
    expect(seen.filter(({ cursor }) => cursor !== undefined).length).toBeGreaterThan(1);
    const moreOf = (header: Json | undefined) => header?.['examples']?.['more']?.['value'];
    for (const { id, link, cursor } of seen) {
      for (const header of [link, cursor ?? link])
        expect([id, Object.keys(header['examples'] ?? {})]).toEqual([id, ['more']]);
      const next = /<([^>]+)>; rel="next"/.exec(String(moreOf(link)))?.[1] ?? '';
      const named = new URL(next, 'http://localhost').searchParams.get('cursor');
      expect([id, named]).toEqual([id, moreOf(cursor) ?? named]);
      expect(named).toBeTruthy();
    }
  });
});
