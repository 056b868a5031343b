import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import {
  languages,
  type PageName,
  pageModule,
  pages,
  pagesFolder,
  type Texts,
  type TextsModule,
  textsOf,
} from './page-modules.ts';

// A name may be said twice.
const placeholdersOf = (text: string) =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort().join(', ');

/** The names of a table's texts, with the placeholders of each. */
const formOf = (texts: Texts) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, placeholdersOf(text)]));

/** What uses the texts of a page. */
const sourceOf = (page: PageName) =>
  [page, 'shared']
    .flatMap((folder) => readdirSync(new URL(`${folder}/`, pagesFolder)).map((name) => `${folder}/${name}`))
    .filter((name) => !/text-\w+\.js$|\.css$/.test(name))
    .map((name) => readFileSync(new URL(name, pagesFolder), 'utf8'))
    .join('\n');

describe.each(pages)('the texts of the page %s', (page) => {
  test.each(languages)('are complete in %s, with the same placeholders', async (language) => {
    const texts = await textsOf(language, page);
    expect(formOf(texts)).toEqual(formOf(await textsOf('en', page)));
    expect(Object.values(texts).filter((text) => text.trim() === '')).toEqual([]);
  });

  test('have a table for each language that pages choose from, and no other', () => {
    const tables = readdirSync(new URL(`${page}/`, pagesFolder)).filter((name) => name.startsWith('text-'));
    expect(tables.sort()).toEqual(languages.map((language) => `text-${language}.js`).sort());
  });

  test('are all used', async () => {
    const source = sourceOf(page);
    const unused = Object.keys(await textsOf('en', page)).filter((name) => {
      // `openTitle` and `openText` are named by `say('open', …)`.
      const stem = name.replace(/(Title|Text)$/, '');
      return !new RegExp(`['"]${name}['"]|(say|inTitle)\\(['"]${stem}['"]|\\? '${stem}' :|: '${stem}',`).test(
        source,
      );
    });
    expect(unused).toEqual([]);
  });

  test('keep French signs on the line of their word', async () => {
    expect(Object.values(await textsOf('fr', page)).filter((text) => / [:;?!»]|« /.test(text))).toEqual([]);
  });

  test.each(languages)('have no word of the interface for programs in %s', async (language) => {
    const words = Object.values(await textsOf(language, page)).join('\n');
    expect(words).not.toMatch(/EIP|ERC-|checksum|recipient|\bmint|\bRWA\b|secret_|\bAPI\b|JSON|hash\b/i);
  });
});

describe('the texts of pages', () => {
  test('are in the languages that a browser is asked for', () => {
    const source = readFileSync(new URL('shared/texts.js', pagesFolder), 'utf8');
    expect(source).toContain(`['${languages.join("', '")}']`);
    const ofOldBrowsers = readFileSync(new URL('shared/old-browser.js', pagesFolder), 'utf8');
    for (const language of languages) expect(ofOldBrowsers).toMatch(new RegExp(`\\n {4}${language}: \\[`));
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
    const { loadTexts, whenOf, momentOf } = (await pageModule('shared/texts.js')) as TextsModule;
    await loadTexts((chosen) => pageModule(`claim/text-${chosen}.js`), wanted);
    expect(page.lang).toBe(language);
    expect([whenOf(40), momentOf('2027-05-04T09:30:00.000Z')]).toEqual([
      expect.stringContaining('40'),
      expect.stringContaining('2027'),
    ]);
    vi.unstubAllGlobals();
  });
});
