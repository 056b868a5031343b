import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { areas, documents, type SchemaObject } from '../../src/contract/documents.ts';

/** A node of a document that is broken on purpose. */
type Node = { [word: string]: Node & unknown };
/** Steps parted by spaces, and what is put there; without that, what is there is taken away. */
type Change = readonly [place: string, value?: unknown];
type Breakage = readonly [
  rule: string,
  what: string,
  ...change: Change | readonly [change: (document: Node) => void, value?: undefined],
];

const root = resolve(import.meta.dirname, '../..');

const at = (document: Node, path: readonly string[]): Node =>
  path.reduce<Node>((node, step) => {
    const next = node[step];
    if (next === undefined) throw new Error(`${path.join(' ')}: there is no ${step}`);
    return next;
  }, document);

function change(document: Node, ...[place, value]: Change): void {
  const path = place.split(' ');
  const [parent, name] = [at(document, path.slice(0, -1)), path.at(-1) ?? ''];
  if (value === undefined) Reflect.deleteProperty(parent, name);
  else Object.assign(parent, { [name]: value });
}

const list = 'paths /event get';
const create = 'paths /event post';
const components = 'components';
const schemas = `${components} schemas`;
const event = `${schemas} Event properties`;
const request = `${schemas} CreateEventRequest properties`;
const attendee = `${schemas} AttendeeRequest properties`;
const parameters = `${components} parameters`;
const forMissing = { 'x-message-required': 'It is required', 'x-code-required': 'it_required' };
const json = 'content application/json';
const listed = `${list} responses 200 ${json}`;
const text = { type: 'string', description: 'A text.' };
const amount = { type: 'string', description: 'In the smallest unit.' };
const reference = { $ref: '#/components/schemas/Event' };

const breakages: readonly Breakage[] = [
  // Code generators
  [
    'apart-names',
    'a field named like a parameter of its path',
    `${attendee} eventId`,
    { ...text, maxLength: 36, pattern: '^[0-9]*$' },
  ],
  [
    'header-once',
    'a header that one response must have and another may',
    (document) => {
      const { $ref: _ref, ...responses } = at(document, `${create} responses`.split(' '));
      const own = (required: boolean) => ({
        description: 'A refusal.',
        headers: { 'Retry-After': { required, description: 'When.', schema: text, example: '1' } },
      });
      change(document, `${create} responses`, { ...responses, 409: own(false), 429: own(true) });
    },
  ],
  ['plain-names', 'a field named like a keyword', `${event} class`, text],
  [
    'plain-servers',
    'words beside the default of a variable',
    'servers 0 variables base_url description',
    'A',
  ],
  ['storable-texts', 'a text that may hold U+0000', `${request} name pattern`],
  [
    'named-schemas',
    'a body without a name',
    (document) => {
      change(document, `${listed} schema`, { type: 'array', items: reference });
      change(document, `${schemas} EventList`);
    },
  ],
  ['named-schemas', 'an enum without a name', `${event} state`, { ...text, enum: ['open'] }],
  [
    'named-schemas',
    'an object without a name',
    `${event} place`,
    { type: 'object', properties: { a: text } },
  ],
  ['named-schemas', 'such a one in a list', `${event} places`, { type: 'array', items: { type: 'object' } }],
  ['one-type', 'two types', `${event} state`, { type: ['string', 'boolean'] }],
  ['one-type', 'two types and null', `${event} state`, { type: ['string', 'boolean', 'null'] }],
  ['one-type', 'null alone', `${event} state`, { type: 'null' }],
  ['plain-references', 'a default beside a reference', `${event} state`, { ...reference, default: 'a' }],
  ['plain-schemas', 'alternatives', `${event} state`, { anyOf: [text, { ...text, maxLength: 5 }] }],
  ['plain-schemas', 'a composition', `${schemas} Event allOf`, [{ $ref: '#/components/schemas/Attendee' }]],
  ['plain-schemas', 'prefixItems', `${event} state`, { type: 'array', prefixItems: [text] }],
  ['plain-schemas', 'a condition', `${schemas} Event if`, { required: ['id'] }],
  ['plain-schemas', 'patternProperties', `${schemas} Event patternProperties`, { '^x': text }],
  ['number-widths', 'an integer without a width', `${event} totalAttendees format`],
  ['number-widths', 'a number of 32 bits', `${event} price format`, 'float'],
  ['number-widths', 'an int64 beyond what JSON numbers hold', `${event} chainId maximum`],
  ['decimal-strings', 'a token id as a number', `${event} tokenId`, { type: 'integer', format: 'int32' }],
  ['decimal-strings', 'an amount without a pattern', `${event} paid`, amount],
  ['tag-names', 'a tag with capitals and without its plain name', `${list} tags`, ['NFTs']],
  ['tag-names', 'a plain name of another tag', `${list} x-tags`, ['nfts']],
  ['success-bodies', 'a success without a body', `${create} responses 201 content`],
  [
    'rule/paths-in-kebab-case',
    'a path in another case',
    (document) => change(document, 'paths /eventList', at(document, ['paths', '/event'])),
  ],
  ['rule/operation-id-verb-noun', 'an operationId of another case', `${list} operationId`, 'list_events'],
  ['rule/operation-id-verb-noun', 'an operationId without a noun', `${list} operationId`, 'list'],
  ['rule/operation-id-verb-noun', 'an operationId without a verb', `${list} operationId`, 'eventsList'],
  ['operation-operationId-unique', 'an operationId twice', `${list} operationId`, 'createEvent'],
  [
    'enum-constants',
    'a value that another enum has',
    (document) => {
      change(document, `${schemas} Place`, { ...text, enum: ['header', 'elsewhere'] });
      change(document, `${event} place`, { $ref: '#/components/schemas/Place' });
    },
  ],
  [
    'enum-names',
    'a name too few for the values of an enum',
    `${schemas} CheckInStatus x-enum-varnames`,
    ['IN'],
  ],
  [
    'enum-names',
    'two values of one name',
    `${schemas} InputLocation x-enum-varnames`,
    ['IN_PATH', 'IN_QUERY', 'IN_PATH', 'IN_BODY'],
  ],
  ['cursor-defaults', 'a default beside a cursor', `${list} parameters 0 schema default`, 50],
  // Examples
  ['rule/media-type-example', 'a body without an example', `${listed} examples`],
  ['rule/parameter-example', 'a parameter without an example', `${parameters} EventId example`],
  ['rule/header-example', 'a header without an example', `${components} headers TotalCount example`],
  // House rules on requests, answers and the document
  ['operation-statuses', 'an operation without 429', `${list} responses 429`],
  [
    'operation-statuses',
    'a public operation without 429',
    (document) => {
      change(document, `${list} security`, []);
      change(document, `${list} responses 429`);
    },
  ],
  ['operation-statuses', 'an operation with a key and without 403', `${list} responses 403`],
  ['required-scope', 'an operation with a key and without its scope', `${list} x-required-scope`],
  ['required-scope', 'a scope that is none', `${list} x-required-scope`, 'read events'],
  ['required-scope', 'a scope of an operation without a key', `${list} security`, []],
  ['problem-bodies', 'an error that is no problem', `${list} responses 400 ${json}`, { schema: reference }],
  [
    'retry-after',
    '503 without Retry-After',
    `${components} responses ServiceUnavailable headers Retry-After`,
  ],
  ['retry-after', '502 without Retry-After', `${create} responses 502`, { description: 'A refusal.' }],
  ['bounded-requests', 'a text without an end in a request', `${request} name maxLength`],
  ['bounded-requests', 'an open request', `${schemas} AttendeeRequest additionalProperties`],
  ['sent-back', 'a field of an answer that cannot be sent back', `${schemas} Attendee properties seat`, text],
  ['sent-back', 'a field of a record that its change does not know', `${event} seat`, text],
  [
    'sent-back',
    'an ignored field that no answer has',
    `${schemas} AttendeeRequest x-ignored-fields 6`,
    'seat',
  ],
  ['pattern-forms', 'a pattern of a field without its form', `${request} coverImage x-form`],
  ['pattern-forms', 'a pattern of a list of fields without it', `${request} galleryImages items x-form`],
  ['pattern-forms', 'a pattern of a parameter without its form', `${schemas} DateOrDateTime x-form`],
  ['pattern-forms', 'an empty form', `${request} coverImage x-form`, ''],
  ['pattern-forms', 'a form without a pattern', `${request} location x-form`, 'a place'],
  ['pattern-forms', 'a form in a response', `${event} state`, { ...text, pattern: '^a$', 'x-form': 'an a' }],
  ['required-messages', 'a message without a code', `${attendee} attendeeId x-code-required`],
  ['required-messages', 'a code without a message', `${attendee} attendeeId x-message-required`],
  [
    'required-messages',
    'a message of a parameter without a code',
    `${parameters} EventId schema x-message-required`,
    'Event?',
  ],
  [
    'required-messages',
    'a message for a field that is not required',
    (document) => Object.assign(at(document, `${attendee} createdAt`.split(' ')), forMissing),
  ],
  [
    'required-messages',
    'a message for a parameter that is not required',
    (document) => Object.assign(at(document, `${parameters} Offset schema`.split(' ')), forMissing),
  ],
  ['required-messages', 'a message in a response', `${event} state`, { ...text, ...forMissing }],
  ['open-responses', 'a closed response', `${schemas} Event additionalProperties`, false],
  ['empty-query', 'an optional parameter that may not be empty', `${parameters} Offset allowEmptyValue`],
  [
    'sorted-paths',
    'paths out of order',
    (document) => {
      const item = at(document, ['paths', '/event']);
      change(document, 'paths /event');
      change(document, 'paths /event', item);
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
  for (const [index, [, , place, value]] of breakages.entries()) {
    const copy: Node = JSON.parse(document);
    if (typeof place === 'function') place(copy);
    else change(copy, place, value);
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
