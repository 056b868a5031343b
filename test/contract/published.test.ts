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
});
