import { describe, expect, test } from 'vitest';
import { catalogue } from '../../src/base/errors.ts';
import { areas } from '../../src/contract/documents.ts';
import { documentedOperations, documentOf, follow, type Json } from '../contract/documented.ts';

/** The schemas of a document that have words for a missing field. */
function ofMissingFields(node: unknown): { message: unknown; code: unknown }[] {
  if (node === null || typeof node !== 'object') return [];
  const { 'x-message-required': message, 'x-code-required': code }: Record<string, unknown> = { ...node };
  const own = message === undefined && code === undefined ? [] : [{ message, code }];
  return [...own, ...Object.values(node).flatMap(ofMissingFields)];
}

const listOf = (node: Json | undefined) => Object.values(node ?? {}).map(String);

/** Operations that make something, and the one that reads it. */
const madeThings: Readonly<Record<string, string>> = {
  createEvent: 'getEvent',
  createRwaNfts: 'getNft',
  createAndMintNft: 'getNft',
  mintNft: 'getNft',
};

describe.each(areas)('the document %s', (area) => {
  const document = documentOf(area);
  const schemas = document['components']?.['schemas'] ?? {};

  test('gives every missing field the code of the catalogue that has its message', () => {
    for (const { message, code } of ofMissingFields(document)) {
      expect(Object.entries(catalogue).find(([known]) => known === code)?.[1].detail).toBe(message);
    }
  });

  test('names every problem code there is', () => {
    expect(listOf(schemas['ProblemCode']?.['enum'])).toEqual(Object.keys(catalogue));
  });

  test('says of each field that an answer may lack when it is absent', () => {
    const silent = Object.entries(schemas)
      .filter(([name]) => !name.endsWith('Request'))
      .flatMap(([name, { properties = {}, required }]) =>
        Object.entries(properties)
          .filter(([field]) => !listOf(required).includes(field))
          .filter(([, field]) => !/\babsent\b/i.test(String(follow(document, field).node['description'])))
          .map(([field]) => `${name}.${field}`),
      );
    expect(silent).toEqual([]);
  });

  test('leads from what was made to where it is read', () => {
    const operations = documentedOperations.filter((each) => each.area === area);
    for (const { id, responses } of operations) {
      const links = responses
        .flatMap(({ node }) => Object.values(node['links'] ?? {}))
        .map((link) => String(link['operationId']));
      for (const link of links) expect(operations.map((each) => each.id)).toContain(link);
      if (madeThings[id] !== undefined) expect(links).toContain(madeThings[id]);
    }
  });
});
