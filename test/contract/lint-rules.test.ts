import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { areas, documents, type SchemaObject } from '../../src/contract/documents.ts';

/** A node of a document that is broken on purpose. */
type Node = { [word: string]: Node & unknown };
type Breakage = readonly [rule: string, what: string, change: (document: Node) => void];

const root = resolve(import.meta.dirname, '../..');

const at = (document: Node, ...path: string[]): Node =>
  path.reduce<Node>((node, step) => {
    const next = node[step];
    if (next === undefined) throw new Error(`${path.join(' ')}: there is no ${step}`);
    return next;
  }, document);

const put = (document: Node, path: string[], value: unknown) =>
  Object.assign(at(document, ...path.slice(0, -1)), { [path.at(-1) ?? '']: value });

const take = (document: Node, ...path: string[]) =>
  Reflect.deleteProperty(at(document, ...path.slice(0, -1)), path.at(-1) ?? '');

const list = ['paths', '/event', 'get'];
const create = ['paths', '/event', 'post'];
const schemas = ['components', 'schemas'];
const event = [...schemas, 'Event', 'properties'];
const request = [...schemas, 'CreateEventRequest', 'properties'];
const attendee = [...schemas, 'AttendeeRequest', 'properties'];
const forMissing = { 'x-message-required': 'It is required', 'x-code-required': 'it_required' };
const json = ['content', 'application/json'];
const text = { type: 'string', description: 'A text.' };

const breakages: readonly Breakage[] = [
  // Code generators
  [
    'apart-names',
    'a field named like a parameter of its path',
    (document) => put(document, [...attendee, 'eventId'], { ...text, maxLength: 36, pattern: '^[0-9]*$' }),
  ],
  [
    'header-once',
    'a header that one response must have and another may',
    (document) => {
      const { $ref: _ref, ...responses } = at(document, ...create, 'responses');
      const own = (required: boolean) => ({
        description: 'A refusal.',
        headers: { 'Retry-After': { required, description: 'When.', schema: text, example: '1' } },
      });
      put(document, [...create, 'responses'], { ...responses, 409: own(false), 429: own(true) });
    },
  ],
  ['plain-names', 'a field named like a keyword', (document) => put(document, [...event, 'class'], text)],
  [
    'plain-servers',
    'words beside the default of a variable',
    (document) => put(document, ['servers', '0', 'variables', 'base_url', 'description'], 'The host.'),
  ],
  [
    'storable-texts',
    'a text that may hold U+0000',
    (document) => take(document, ...request, 'name', 'pattern'),
  ],
  [
    'named-schemas',
    'a body without a name',
    (document) => {
      put(document, [...list, 'responses', '200', ...json, 'schema'], {
        type: 'array',
        items: { $ref: '#/components/schemas/Event' },
      });
      take(document, ...schemas, 'EventList');
    },
  ],
  [
    'named-schemas',
    'an enum without a name',
    (document) => put(document, [...event, 'state'], { ...text, enum: ['open'] }),
  ],
  [
    'named-schemas',
    'an object without a name',
    (document) => put(document, [...event, 'place'], { type: 'object', properties: { city: text } }),
  ],
  [
    'named-schemas',
    'an object without a name in a list',
    (document) => put(document, [...event, 'places'], { type: 'array', items: { type: 'object' } }),
  ],
  [
    'one-type',
    'two types',
    (document) => put(document, [...event, 'state'], { type: ['string', 'boolean'] }),
  ],
  [
    'one-type',
    'two types and null',
    (document) => put(document, [...event, 'state'], { type: ['string', 'boolean', 'null'] }),
  ],
  ['one-type', 'null alone', (document) => put(document, [...event, 'state'], { type: 'null' })],
  [
    'plain-references',
    'a default beside a reference',
    (document) =>
      put(document, [...event, 'state'], {
        $ref: '#/components/schemas/DateOrDateTime',
        default: '2027-05-04',
      }),
  ],
  [
    'plain-schemas',
    'null as an alternative',
    (document) => put(document, [...event, 'state'], { anyOf: [text, { ...text, maxLength: 5 }] }),
  ],
  [
    'plain-schemas',
    'a composition',
    (document) => put(document, [...schemas, 'Event', 'allOf'], [{ $ref: '#/components/schemas/Attendee' }]),
  ],
  [
    'plain-schemas',
    'prefixItems',
    (document) => put(document, [...event, 'state'], { type: 'array', prefixItems: [text] }),
  ],
  [
    'plain-schemas',
    'a condition',
    (document) => put(document, [...schemas, 'Event', 'if'], { required: ['id'] }),
  ],
  [
    'plain-schemas',
    'patternProperties',
    (document) => put(document, [...schemas, 'Event', 'patternProperties'], { '^x': text }),
  ],
  [
    'number-widths',
    'an integer without a width',
    (document) => take(document, ...event, 'totalAttendees', 'format'),
  ],
  [
    'number-widths',
    'a number of 32 bits',
    (document) => put(document, [...event, 'price', 'format'], 'float'),
  ],
  [
    'number-widths',
    'an int64 beyond what JSON numbers hold',
    (document) => take(document, ...event, 'chainId', 'maximum'),
  ],
  [
    'decimal-strings',
    'a token id as a number',
    (document) => put(document, [...event, 'tokenId'], { type: 'integer', format: 'int32' }),
  ],
  [
    'decimal-strings',
    'an amount without a pattern',
    (document) => put(document, [...event, 'paid'], { ...text, description: 'In the smallest unit.' }),
  ],
  [
    'success-bodies',
    'a success without a body',
    (document) => take(document, ...create, 'responses', '201', 'content'),
  ],
  [
    'rule/operation-id-verb-noun',
    'an operationId of another case',
    (document) => put(document, [...list, 'operationId'], 'list_events'),
  ],
  [
    'rule/operation-id-verb-noun',
    'an operationId without a noun',
    (document) => put(document, [...list, 'operationId'], 'list'),
  ],
  [
    'rule/operation-id-verb-noun',
    'an operationId without a verb',
    (document) => put(document, [...list, 'operationId'], 'eventsList'),
  ],
  [
    'operation-operationId-unique',
    'an operationId twice',
    (document) => put(document, [...list, 'operationId'], 'createEvent'),
  ],
  [
    'enum-constants',
    'a value that another enum has',
    (document) => {
      put(document, [...schemas, 'Place'], { ...text, enum: ['header', 'elsewhere'] });
      put(document, [...event, 'place'], { $ref: '#/components/schemas/Place' });
    },
  ],
  [
    'cursor-defaults',
    'a default beside a cursor',
    (document) => put(document, [...list, 'parameters', '0', 'schema', 'default'], 50),
  ],
  // Examples
  [
    'rule/media-type-example',
    'a body without an example',
    (document) => take(document, ...list, 'responses', '200', ...json, 'examples'),
  ],
  [
    'rule/parameter-example',
    'a parameter without an example',
    (document) => take(document, 'components', 'parameters', 'EventId', 'example'),
  ],
  [
    'rule/header-example',
    'a header without an example',
    (document) => take(document, 'components', 'headers', 'TotalCount', 'example'),
  ],
  // House rules on requests, answers and the document
  [
    'operation-statuses',
    'an operation without 429',
    (document) => take(document, ...list, 'responses', '429'),
  ],
  [
    'operation-statuses',
    'a public operation without 429',
    (document) => {
      put(document, [...list, 'security'], []);
      take(document, ...list, 'responses', '429');
    },
  ],
  [
    'required-scope',
    'an operation with a key and without its scope',
    (document) => take(document, ...list, 'x-required-scope'),
  ],
  [
    'required-scope',
    'a scope that is none',
    (document) => put(document, [...list, 'x-required-scope'], 'read events'),
  ],
  [
    'required-scope',
    'a scope of an operation without a key',
    (document) => put(document, [...list, 'security'], []),
  ],
  [
    'operation-statuses',
    'an operation with a key and without 403',
    (document) => take(document, ...list, 'responses', '403'),
  ],
  [
    'problem-bodies',
    'an error that is no problem',
    (document) =>
      put(document, [...list, 'responses', '400', 'content', 'application/json'], {
        schema: { $ref: '#/components/schemas/Event' },
        example: {},
      }),
  ],
  [
    'retry-after',
    '503 without Retry-After',
    (document) => take(document, 'components', 'responses', 'ServiceUnavailable', 'headers', 'Retry-After'),
  ],
  [
    'retry-after',
    '502 without Retry-After',
    (document) => put(document, [...create, 'responses', '502'], { description: 'A refusal.' }),
  ],
  [
    'bounded-requests',
    'a text without an end in a request',
    (document) => take(document, ...request, 'name', 'maxLength'),
  ],
  [
    'bounded-requests',
    'an open request',
    (document) => take(document, ...schemas, 'AttendeeRequest', 'additionalProperties'),
  ],
  [
    'pattern-forms',
    'a pattern of a field without its form',
    (document) => take(document, ...request, 'coverImage', 'x-form'),
  ],
  [
    'pattern-forms',
    'a pattern of a list of fields without its form',
    (document) => take(document, ...request, 'galleryImages', 'items', 'x-form'),
  ],
  [
    'pattern-forms',
    'a pattern of a parameter without its form',
    (document) => take(document, ...schemas, 'DateOrDateTime', 'x-form'),
  ],
  ['pattern-forms', 'an empty form', (document) => put(document, [...request, 'coverImage', 'x-form'], '')],
  [
    'pattern-forms',
    'a form without a pattern',
    (document) => put(document, [...request, 'location', 'x-form'], 'a place'),
  ],
  [
    'pattern-forms',
    'a form in a response',
    (document) => put(document, [...event, 'state'], { ...text, pattern: '^a$', 'x-form': 'an a' }),
  ],
  [
    'required-messages',
    'a message without a code',
    (document) => take(document, ...attendee, 'attendeeId', 'x-code-required'),
  ],
  [
    'required-messages',
    'a code without a message',
    (document) => take(document, ...attendee, 'attendeeId', 'x-message-required'),
  ],
  [
    'required-messages',
    'a message of a parameter without a code',
    (document) =>
      put(document, ['components', 'parameters', 'EventId', 'schema', 'x-message-required'], 'Event?'),
  ],
  [
    'required-messages',
    'a message for a field that is not required',
    (document) => Object.assign(at(document, ...attendee, 'createdAt'), forMissing),
  ],
  [
    'required-messages',
    'a message for a parameter that is not required',
    (document) => Object.assign(at(document, 'components', 'parameters', 'Offset', 'schema'), forMissing),
  ],
  [
    'required-messages',
    'a message in a response',
    (document) => put(document, [...event, 'state'], { ...text, ...forMissing }),
  ],
  [
    'open-responses',
    'a closed response',
    (document) => put(document, [...schemas, 'Event', 'additionalProperties'], false),
  ],
  [
    'empty-query',
    'an optional query parameter that may not be empty',
    (document) => take(document, 'components', 'parameters', 'Offset', 'allowEmptyValue'),
  ],
  [
    'sorted-paths',
    'paths out of order',
    (document) => {
      const item = at(document, 'paths', '/event');
      take(document, 'paths', '/event');
      put(document, ['paths', '/event'], item);
    },
  ],
];

let folder: string;
/** File name to the rules that it breaks. */
const broken = new Map<string, Set<string>>();
const fileOf = (index: number) => `breakage-${index}.json`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-lint-'));
  const document = await readFile(join(root, 'src/contract/generated/events.json'), 'utf8');
  await writeFile(join(folder, 'whole.json'), document);
  for (const [index, [, , change]] of breakages.entries()) {
    const copy: Node = JSON.parse(document);
    change(copy);
    await writeFile(join(folder, fileOf(index)), JSON.stringify(copy));
  }
  const files = ['whole.json', ...breakages.map((_, index) => fileOf(index))].map((name) =>
    join(folder, name),
  );
  const args = [join(root, 'node_modules/@redocly/cli/bin/cli.js'), 'lint', ...files];
  args.push('--config', join(root, 'openapi/redocly.yaml'), '--format', 'json', '--max-problems', '1000');
  // Its exit status tells that something is broken, as it should be.
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64e6 }).catch(
    (error: { stdout: string }) => error,
  );
  type Problem = {
    readonly ruleId: string;
    readonly location: readonly { readonly source: { readonly ref: string } }[];
  };
  // One JSON text for each file.
  const reports: { problems: Problem[] }[] = stdout
    .split(/(?<=^\})\s*(?=\{)/m)
    .map((report) => JSON.parse(report));
  const problems = reports.flatMap((report) => report.problems);
  for (const { ruleId, location } of problems) {
    const file = basename(location[0]?.source.ref ?? '');
    broken.set(file, (broken.get(file) ?? new Set()).add(ruleId.replace(/^tallystick\//, '')));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the rules of the documents', () => {
  test('find nothing in the document as it is', () => {
    expect(broken.get('whole.json')).toBeUndefined();
  });

  test.each(breakages.map(([rule, what], index) => ({ rule, what, index })))(
    'find $what, by $rule',
    ({ rule, index }) => {
      expect([...(broken.get(fileOf(index)) ?? [])]).toContain(rule);
    },
  );

  test('have a breakage each, those of the house', async () => {
    const settings = await readFile(join(root, 'openapi/redocly.yaml'), 'utf8');
    const own = [...settings.matchAll(/^ {2}(?:tallystick\/([a-z-]+)|(rule\/[a-z-]+)):/gm)].map(
      ([, name, rule]) => name ?? rule,
    );
    const tried: (string | undefined)[] = breakages.map(([rule]) => rule);
    expect(own.filter((rule) => !tried.includes(rule))).toEqual([]);
  });
});

describe('the operations of all documents', () => {
  test('have names that no two share', () => {
    type Item = Readonly<Record<string, { readonly operationId?: string }>>;
    const items = areas.flatMap((area) => Object.values(documents[area].paths) as Item[]);
    const ids = items.flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []));
    expect(ids.length).toBeGreaterThan(20);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe('a schema that shows more of a thing', () => {
  // Written out, not composed: generators lose what is null in a composition of OpenAPI 3.1.
  test.each([
    ['RwaDetail', 'Rwa'],
    ['NftDetail', 'Nft'],
    ['NftWithRwa', 'Nft'],
  ] as const)('%s says of each field what %s says', (longer, shorter) => {
    const all = documents.rwa.components?.['schemas'] ?? {};
    const { description: _longer, ...has } = all[longer] as SchemaObject; // schemas of a linted document
    const { description: _shorter, required = [], ...wanted } = all[shorter] as SchemaObject;
    expect(has).toMatchObject(wanted);
    expect(has.required).toEqual(expect.arrayContaining([...required]));
  });
});
