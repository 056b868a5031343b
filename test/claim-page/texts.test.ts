import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { languages, pageModule, type Texts, type TextsModule, textsOf } from './page-modules.ts';

const folder = new URL('../../src/claim-page/', import.meta.url);
const sources = readdirSync(folder).filter((name) => !name.startsWith('text-') && name !== 'page.css');
const source = sources.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
const english = await textsOf('en');

// A name may be said twice.
const placeholdersOf = (text: string) =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort().join(', ');

/** The names of a table's texts, with the placeholders of each. */
const formOf = (texts: Texts) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, placeholdersOf(text)]));

describe('the texts of the claim page', () => {
  test.each(languages)('are complete in %s, with the same placeholders', async (language) => {
    const texts = await textsOf(language);
    expect(formOf(texts)).toEqual(formOf(english));
    expect(Object.values(texts).filter((text) => text.trim() === '')).toEqual([]);
  });

  test('have a table for each language that the page chooses from, and no other', () => {
    const tables = readdirSync(folder).filter((name) => name.startsWith('text-'));
    expect(tables.sort()).toEqual(languages.map((language) => `text-${language}.js`).sort());
    expect(source).toContain(`['${languages.join("', '")}']`);
    for (const language of languages) expect(source).toMatch(new RegExp(`\\n {4}${language}: \\[`));
  });

  test('are all used', () => {
    const unused = Object.keys(english).filter((name) => {
      // `openTitle` and `openText` are named by `say('open', …)`.
      const stem = name.replace(/(Title|Text)$/, '');
      return !new RegExp(`['"]${name}['"]|(say|inTitle)\\(['"]${stem}['"]|\\? '${stem}' :|: '${stem}',`).test(
        source,
      );
    });
    expect(unused).toEqual([]);
  });

  test.each([
    [['en-US@posix'], 'en'],
    [['de_DE'], 'de'],
    [['zh', 'ar', 'pt-BR'], 'pt'],
    [['zh-Hant-TW'], 'en'],
    [[], 'en'],
  ])('are chosen for %j, whatever a browser calls its language', async (wanted, language) => {
    const page = {} as { lang?: string };
    vi.stubGlobal('document', { documentElement: page });
    const { loadTexts, whenOf, momentOf } = (await pageModule('texts.js')) as TextsModule;
    await loadTexts(wanted);
    expect(page.lang).toBe(language);
    expect([whenOf(40), momentOf('2027-05-04T09:30:00.000Z')]).toEqual([
      expect.stringContaining('40'),
      expect.stringContaining('2027'),
    ]);
    vi.unstubAllGlobals();
  });

  test('keep French signs on the line of their word', async () => {
    expect(Object.values(await textsOf('fr')).filter((text) => / [:;?!»]|« /.test(text))).toEqual([]);
  });

  test.each(languages)('have no word of the interface for programs in %s', async (language) => {
    const words = Object.values(await textsOf(language)).join('\n');
    expect(words).not.toMatch(/EIP|ERC-|checksum|recipient|\bmint|\bRWA\b|secret_|\bAPI\b|JSON|hash\b/i);
  });
});
