import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { highlight, isLanguage, tokenClasses } from '../../scripts/docs/highlight.ts';
import { prose, renderMarkdown } from '../../scripts/docs/markdown.ts';
import { escapeHtml, fill } from '../../scripts/docs/markup.ts';
import { readNavigation } from '../../scripts/docs/navigation.ts';
import { readProblemTexts } from '../../scripts/docs/problem-pages.ts';
import { nulls, recipeFiles, recipeOf } from '../../scripts/docs/recipes.ts';
import { samplesOf } from '../../scripts/docs/samples/samples.ts';
import { createFieldList } from '../../scripts/docs/schema.ts';
import { mintReasons } from '../../src/rwa/minting/mint-reason.ts';
import { documentOf } from '../contract/documented.ts';
import { contractSchema } from '../support/contract-schema.ts';

const problems = join(import.meta.dirname, '../../openapi/portal/problems.yaml');

describe('the texts of the portal', () => {
  test('have exactly one for each problem code', async () => {
    const yaml = await readFile(problems, 'utf8');
    expect(() => readProblemTexts(yaml.replace('\nevent_full:', '\nevent_overflowing:'))).toThrow(
      'Texts for unknown problem codes: event_overflowing',
    );
    expect(() => readProblemTexts(yaml.replace(/\nevent_full:\n( .*\n)+/, '\n'))).toThrow(
      'Problem codes without a text: event_full',
    );
  });

  test('name the versions of the packages, and those that the types for TypeScript are made with', async () => {
    const root = join(import.meta.dirname, '../..');
    const guide = await readFile(join(root, 'openapi/portal/guides/clients.md'), 'utf8');
    const { version, devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    for (const file of [`tallystick-client-${version}.tgz`, `tallystick_client-${version}-py3-none-any.whl`])
      expect(guide).toContain(` ./${file}\n`);
    for (const name of ['openapi-typescript', 'typescript']) {
      expect(guide).toContain(`--package ${name}@${devDependencies[name]} `);
    }
  });

  test('say of each note of a mint what its company does', async () => {
    const guide = await readFile(join(import.meta.dirname, '../../openapi/portal/guides/minting.md'), 'utf8');
    const shown = [...guide.matchAll(/^\| `([^`]+\.)` \|/gm)].map(([, note]) => note);
    expect(shown.toSorted()).toEqual(
      Object.values(mintReasons)
        .map(({ note }) => note)
        .toSorted(),
    );
  });

  test('fit their template: no name without a value, no value without a place', () => {
    expect(fill('{{a}}-{{a}}', { a: '1' })).toBe('1-1');
    expect(() => fill('{{a}}', {})).toThrow('{{a}}');
    expect(() => fill('', { a: '1' })).toThrow('no place for a');
  });

  test('become paragraphs with code and links, and never markup of their own', () => {
    expect(prose('See `a<b`\nand [there](x.html).\n\nDone.', '../')).toBe(
      '<p>See <code>a&lt;b</code>\nand <a href="../x.html">there</a>.</p>\n<p>Done.</p>',
    );
  });

  test('have a place in the navigation, and each place has a text', () => {
    const yaml =
      '- title: Guides\n  groups:\n    - title: Begin\n      pages:\n        - { page: one, label: One }\n';
    expect(readNavigation(yaml, ['one'])).toHaveLength(1);
    expect(() => readNavigation(yaml, ['one', 'two'])).toThrow('lacks: two');
    expect(() => readNavigation(yaml, [])).toThrow('do not exist: one');
  });

  test('have an anchor of its own for every heading, and insert only what is known', () => {
    const { html, headings } = renderMarkdown('## Added\n\n{{star x}}\n\n## Added\n', {
      root: '',
      inserts: { star: (name) => `<i>${name}</i>` },
    });
    expect(headings.map(({ id }) => id)).toEqual(['added', 'added-1']);
    expect(html).toContain('<i>x</i>');
    expect(() => renderMarkdown('{{moon}}', { root: '' })).toThrow('Nothing is known as {{moon}}');
    expect(() => renderMarkdown('```cobol\n```', { root: '' })).toThrow('language cobol');
  });
});

test('the answers of the first page have the fields of the document, and values of its kinds', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/first-nft.md'), 'utf8');
  const shown = [...page.matchAll(/```json\n([^`]*)```/g)].map(([, text = '']) => JSON.parse(text));
  expect(shown).toHaveLength(2);
  const [accepted, nft] = shown;
  for (const [component, value] of [
    ['MintAccepted', accepted],
    ['NftDetail', nft],
    ['RwaDetail', nft.rwa],
  ] as const) {
    expect([component, contractSchema(component, 'rwa')(value)]).toEqual([component, []]);
    const fields = Object.keys(
      documentOf('rwa')['components']?.['schemas']?.[component]?.['properties'] ?? {},
    );
    expect(Object.keys(value).toSorted()).toEqual(fields.toSorted());
  }
});

describe('a page of the documentation', () => {
  const render = (text: string) =>
    renderMarkdown(text, {
      root: '../',
      addressOf: (href) => (href.includes('.md') ? `../page.html${href.replace(/^[^#]*/, '')}` : undefined),
    });

  test('links to pages of the portal, and names files that are not served', () => {
    const { html } = render(
      '[Deploy](../deploy.md#nginx), [rules](../../deploy/rules.yaml), [x](https://x.test)',
    );
    expect(html).toBe(
      '<p><a href="../page.html#nginx">Deploy</a>, rules (<code>deploy/rules.yaml</code>), <a href="https://x.test">x</a></p>\n',
    );
  });

  test('shows an image of docs/images, and cannot be built with another', () => {
    const images: Record<string, string> = { 'images/a.svg': '../assets/a-1.svg' };
    const show = (text: string) =>
      renderMarkdown(text, { root: '../', addressOf: (href) => images[href] }).html;
    expect(show('![A < b](images/a.svg)')).toBe(
      '<p><img class="drawing" src="../assets/a-1.svg" alt="A &lt; b"></p>\n',
    );
    expect(() => show('![x](images/b.svg)')).toThrow('no image images/b.svg');
  });

  test('has the anchors that hosts of git give it', () => {
    const { headings } = render('## `a` & [b](c.md): d-e');
    expect(headings.map(({ id }) => id)).toEqual(['a--b-d-e']);
  });

  test('has an anchor for each row that begins with a name, and no header without text', () => {
    const { html, names } = render('| | B |\n|---|---|\n| `A_B` | c |\n| a `b` | c |\n| | c |\n');
    expect(names).toEqual([{ id: 'row-a_b', text: 'A_B' }]);
    expect(html).toContain('<tr id="row-a_b"><th scope="row"><code>A_B</code></th><td>c</td></tr>');
    expect(html).not.toMatch(/<th[^>]*><\/th>/);
  });

  test('names the cells of a table with many columns, which a phone shows below each other', () => {
    const { html } = render('| A | B | C | D | E |\n|---|---|---|---|---|\n| a | b | | d | e |\n');
    expect(html).toContain('<th scope="row">a</th><td data-label="B">b</td><td data-label="C"></td>');
    expect(render('| A | B |\n|---|---|\n| a | b |\n').html).not.toContain('data-label');
  });

  test('has its first paragraph as its lead, and no comments', () => {
    const { lead, html } = render('# A\n\n<!-- made by x -->\n## B\n\nThe `first`\nparagraph.\n\nMore.');
    expect(lead).toBe('The first paragraph.');
    expect(html).not.toContain('made by');
  });
});

describe('code', () => {
  test.each([
    ['shell', 'curl "$TALLYSTICK/rwa?a=1&b=<2>" # all', ['function', 'string', 'comment']],
    ['json', '{\n  "price": 12.5,\n  "name": "a \\"b\\""\n}', ['keyword', 'constant', 'string']],
    ['http', 'POST /event HTTP/1.1\nIf-Match: "1"', ['keyword', 'constant', 'string']],
    ['typescript', 'const a = await f(`x`); // <b>', ['keyword', 'function', 'string', 'comment']],
    ['python', 'def f(x):\n    return x < 1 and None', ['keyword', 'function', 'parameter', 'constant']],
    ['text', '<a> & "b"', []],
  ])('in %s is coloured by classes alone, and says what it said', (language, source, classes) => {
    if (!isLanguage(language)) throw new Error(`${language} is not known`);
    const html = highlight(language, source);
    const found = [...html.matchAll(/<span class="(\w+)">/g)].map(([, name]) => name);
    expect(found).toEqual(expect.arrayContaining(classes));
    expect(classes.length > 0).toBe(found.length > 0);
    const text = html.replaceAll(/<span class="\w+">|<\/span>/g, '');
    expect(text).toBe(escapeHtml(source));
  });

  test('has a colour for each of its classes', async () => {
    const css = await readFile(join(import.meta.dirname, '../../openapi/portal/code.css'), 'utf8');
    for (const name of tokenClasses) expect([name, css.includes(`.${name}`)]).toEqual([name, true]);
  });
});

describe('the recipes of clients', () => {
  test.each(nulls)('in $file say how to send a value, nothing and null, in this order', async ({ file }) => {
    const recipe = recipeOf(await readFile(join(import.meta.dirname, '../sdk', file), 'utf8'));
    const told = [...recipe.matchAll(/(?:\/\/|#) (a value|left out|null)(?::.*)?$/gm)].map(
      ([, what]) => what,
    );
    expect(told).toEqual(['a value', 'left out', 'null']);
    expect(recipe).not.toMatch(/\b(?:recipe|end)$|^[ \t]*$(?![\s\S]*\S)/m);
  });

  test('are there where the image is made, too', async () => {
    const context = await readFile(join(import.meta.dirname, '../../deploy/Dockerfile.dockerignore'), 'utf8');
    expect(context.split('\n')).toEqual(expect.arrayContaining(recipeFiles.map((file) => `!${file}`)));
  });

  test('are the lines between the marks, at the margin, and must be there', () => {
    expect(recipeOf('a\n\t// recipe\n\tb\n\t\tc\n\t// end\nd\n# recipe\ne\n# end\n')).toBe('b\n  c\ne');
    expect(() => recipeOf('a\n')).toThrow('no recipe');
  });
});

describe('a field of a reference', () => {
  const { fields, body } = createFieldList({
    Node: {
      type: 'object',
      required: ['id'],
      properties: {
        name: { type: ['string', 'null'], maxLength: 1_000, pattern: '^a+$', 'x-form': 'all a' },
        when: { type: 'string', format: 'date-time', pattern: '^b+$' },
        id: { type: 'string', pattern: '^c+$' },
        kind: { type: 'string', enum: ['one', 'two'], deprecated: true },
        made: { type: 'string', readOnly: true },
        nodes: { type: 'array', maxItems: 5, items: { $ref: '#/components/schemas/Node' } },
        counts: { type: 'array', items: { type: 'integer', minimum: 1 } },
        inner: { type: 'object', properties: { deep: { type: 'boolean' } } },
      },
    },
  });
  const node = { $ref: '#/components/schemas/Node' };
  const text = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

  test('is said in words, and by its pattern only where there are none', () => {
    const html = body(node, 'request');
    expect(text(html)).toContain('name string or null, at most 1,000 characters It must be all a.');
    expect(text(html)).toContain('when string (date-time) ');
    expect(text(html)).toContain('id string ^c+$ required');
    expect(html).not.toMatch(/\^[ab]/);
    expect(text(html)).toContain('kind string deprecated One of one , two .');
    expect(text(html)).toContain('counts list of integer, each at least 1');
  });

  test('comes first where it is required, and is left out of a request where only answers have it', () => {
    expect(text(body(node, 'request'))).toMatch(/^ id .* name /);
    expect(body(node, 'request')).not.toContain('made');
    expect(text(body(node, 'answer'))).toContain('made string may be absent');
    expect(text(body(node, 'answer'))).not.toContain('required');
  });

  test('has its own fields below it, but not those that it lies in', () => {
    const html = body({ type: 'array', items: node }, 'answer');
    expect(html.match(/Fields of/g)).toHaveLength(1);
    expect(text(html)).toContain('inner object may be absent Fields of inner deep boolean');
    expect(text(html)).toContain('nodes list of object, at most 5 entries');
  });

  test('may be a parameter or a header, with an example and words of its own', () => {
    const field = { name: 'X-Id', description: 'Names `it`.', schema: node, required: true, example: 'a<b' };
    const html = fields([field], 'request');
    expect(html).toContain('<p>Names <code>it</code>.</p>');
    expect(html).toContain('<p>Example: <code>a&lt;b</code></p>');
    expect(fields([], 'request')).toBe('');
  });
});

describe('a code sample', () => {
  const schema = { type: 'string' };
  const description = 'Said.';
  const operation = {
    operationId: 'sayIt',
    tags: ['Words'],
    summary: 'Say it',
    description: 'Says it.',
    method: 'POST',
    path: '/say/{word}',
    fullPath: '/v1/say/{word}',
    href: 'words.html#/words/sayit',
    parameters: [
      { in: 'path', name: 'word', required: true, example: 'a b', schema, description },
      { in: 'query', name: 'to', required: true, example: "it's", schema, description },
      { in: 'query', name: 'loud', example: true, schema, description },
    ],
    requestBody: {
      description,
      content: {
        'application/json': { schema, examples: { one: { value: { said: `"it's" \n\\`, times: null } } } },
      },
    },
    responses: { '400': { description }, '204': { description } },
  } as const;

  test('sends everything that is required, quoted as its language wants it', () => {
    const [curl, typescript, python] = samplesOf(operation).map(({ source }) => source);
    expect(curl).toContain('"https://here.invalid/v1/say/a%20b"');
    expect(curl).toContain(String.raw`-d '{"said":"\"it'\''s\" \n\\","times":null}'`);
    expect(curl).not.toContain('loud');
    const repeatable = {
      ...operation,
      parameters: [{ in: 'header', name: 'Idempotency-Key', example: '', schema, description }],
    } as const;
    for (const { source } of samplesOf(repeatable))
      expect(source).toMatch(/rand -hex 16|randomUUID\(\)|uuid4\(\)/);
    expect(typescript).toContain(String.raw`said: '"it\'s" \n\\',`);
    expect(typescript).toContain('console.log(response.status);');
    expect(python).toContain(String.raw`"said": "\"it's\" \n\\",`);
    expect(python).toContain('"times": None,');
  });
});
