import { describe, expect, test } from 'vitest';
import { keptMetadata, keptMetadataText } from '../../src/providers/shared/kept-metadata.ts';
import { normalizedMetadata } from '../../src/providers/shared/normalized-metadata.ts';

const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
const attributes = (value: string) => `[{"trait_type":"Age","value":${value}}]`;

// 32 levels in all: a library of .NET takes 64, and JSON.stringify itself not many thousands.
describe.for([
  ['an object', (text: string) => keptMetadata(JSON.parse(text))],
  ['a text', keptMetadataText],
] as const)('metadata that are %s', ([, keep]) => {
  test('stay as they are down to 32 levels', () => {
    const text = `{"name":"Cask [[","attributes":${attributes(nested(29))}}`;
    expect(keep(text)).toBe(text);
  });

  test.for([33, 1_000, 15_000])('lose their members that are %i levels deep, and say so', (levels) => {
    const deep = nested(levels - 3);
    const text = `{"name":"Cask \\"[","attributes":${attributes(deep)},"more":${nested(levels)}}`;
    const shown = JSON.parse(keep(text) ?? '');
    expect(shown).toEqual({ name: 'Cask "[', _truncated: ['attributes', 'more'] });
  });
});

test('a text that is no JSON stays', () => {
  expect(keptMetadataText('Cask [[[')).toBe('Cask [[[');
});

test.for([1_000, 15_000])('the uniform shape has nothing that is %i levels deep', (levels) => {
  const metadata = JSON.parse(`{"name":"Cask","attributes":${attributes(nested(levels))}}`);
  expect(normalizedMetadata.parse(metadata)).toEqual({
    name: 'Cask',
    attributes: [{ trait_type: 'Age', value: null }],
  });
});
