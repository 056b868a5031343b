import fc, { type Arbitrary } from 'fast-check';
import {
  type DocumentedOperation,
  type DocumentedParameter,
  documentOf,
  type Json,
} from '../contract/documented.ts';
import type { SentRequest } from '../contract/sender.ts';
import type { hintsFor } from './hints.ts';
import { refusedByField, refusedByParameter } from './invalid-values.ts';
import { fitting, type Hints } from './valid-values.ts';

/** What there is to ask for. Each gives one of many by its number. No property but its own needs a `changedRwa`. */
export type Pool = Readonly<Record<'event' | 'rwa' | 'changedRwa' | 'nft', (number: number) => string>>;

/** A part of a path, percent-encoded; it may be taken from the pool. */
type PathPart = (pool: Pool) => string;

/** A request in the making, all but its key. */
export type Draft = {
  readonly operation: DocumentedOperation;
  readonly path: Readonly<Record<string, PathPart>>;
  /** Percent-encoded. */
  readonly query: readonly (readonly [name: string, text: string])[];
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer | undefined;
};

/** A draft with one fault, and the status that it must be refused with. */
export type FaultyDraft = { readonly draft: Draft; readonly why: string; readonly status: number };

type AllHints = ReturnType<typeof hintsFor>;
type Fields = Readonly<Record<string, unknown>>;

export function toRequest(draft: Draft, pool: Pool, key: string | undefined): SentRequest {
  const { operation, path, query, headers, body } = draft;
  const filled = operation.template.replaceAll(/\{([^}]+)\}/g, (_whole, name) => path[name]?.(pool) ?? '');
  const search = query.map(([name, text]) => `${name}=${text}`).join('&');
  return {
    area: operation.area,
    method: operation.method,
    path: search === '' ? filled : `${filled}?${search}`,
    headers: {
      ...(key !== undefined && !operation.isPublic && { 'x-api-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body,
  };
}

/** Requests that fit the document. */
export function validDrafts(operation: DocumentedOperation, hints: AllHints): Arbitrary<Draft> {
  const inQuery = operation.parameters.filter((each) => each.in === 'query');
  return fc.record({
    operation: fc.constant(operation),
    path: pathParts(operation, hints.query),
    query: fc
      .tuple(...inQuery.map((each) => queryPair(operation, each, hints.query)))
      .map((pairs) => pairs.flat()),
    headers: headersOf(operation),
    body: bodyOf(operation, hints.body),
  });
}

/** Requests that differ from one that fits in exactly one thing, which the document refuses. */
export function faultyDrafts(operation: DocumentedOperation, hints: AllHints): Arbitrary<FaultyDraft> {
  const document = documentOf(operation.area);
  const changes: Arbitrary<(draft: Draft) => FaultyDraft>[] = [
    queryFaults(),
    ...operation.parameters.map((each) => parameterFaults(document, each)),
    ...(operation.body === undefined ? [] : [bodyFaults(document, operation.body)]),
  ];
  return fc
    .tuple(validDrafts(operation, hints), fc.oneof(...changes))
    .map(([draft, change]) => change(draft));
}

function pathParts(operation: DocumentedOperation, hints: Hints): Arbitrary<Draft['path']> {
  const parts = operation.parameters
    .filter((each) => each.in === 'path')
    .map((each) => [each.name, pathPart(operation, each, hints)] as const);
  return fc.record(Object.fromEntries(parts));
}

function pathPart(
  operation: DocumentedOperation,
  { name, schema }: DocumentedParameter,
  hints: Hints,
): Arbitrary<PathPart> {
  const kind = kindOf(operation, name);
  if (kind === undefined) {
    const texts = fitting(documentOf(operation.area), schema, hints, name);
    return texts.map((text) => () => encodeURIComponent(String(text)));
  }
  const unknown = fc.uuid().map((id) => () => id);
  // What deletes takes nothing away from the other properties; there is a chain for it.
  if (operation.id === 'deleteEvent') return unknown;
  const known = fc.nat(10_000).map((number) => (pool: Pool) => pool[kind](number));
  return fc.oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: unknown });
}

function kindOf({ id, template }: DocumentedOperation, name: string): keyof Pool | undefined {
  if (name === 'eventId') return 'event';
  if (name === 'nftId') return 'nft';
  if (name !== 'id') return undefined;
  // A change may archive an RWA, and the other properties mint with theirs.
  if (id === 'updateRwa') return 'changedRwa';
  return template.includes('/nft/{id}') ? 'nft' : 'rwa';
}

function queryPair(operation: DocumentedOperation, each: DocumentedParameter, hints: Hints) {
  const texts = fitting(documentOf(operation.area), each.schema, hints, each.name).map((value) =>
    encodeURIComponent(String(value)),
  );
  const pairs = texts.map((text): [string, string][] => [[each.name, text]]);
  // An empty one counts as absent.
  return each.required ? pairs : fc.oneof(pairs, fc.constantFrom<[string, string][]>([], [[each.name, '']]));
}

const headerTexts = fc.uuid();

function headersOf({ parameters }: DocumentedOperation): Arbitrary<Draft['headers']> {
  const names = parameters.filter((each) => each.in === 'header').map(({ name }) => name);
  const made = names.map(
    (name) => [name, name === 'If-Match' ? fc.constantFrom('*', '"x"') : headerTexts] as const,
  );
  return fc
    .record(Object.fromEntries(made), { requiredKeys: [] })
    .map((headers) => headers as Record<string, string>); // what is left out is not there
}

function bodyOf({ area, body }: DocumentedOperation, hints: Hints): Arbitrary<string | undefined> {
  if (body === undefined) return fc.constant(undefined);
  const sent = fitting(documentOf(area), body.schema, hints).map((value) => JSON.stringify(value));
  return body.required ? sent : fc.option(sent, { nil: undefined, freq: 5 });
}

function queryFaults(): Arbitrary<(draft: Draft) => FaultyDraft> {
  const names = fc.oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.constantFrom('colour', '__proto__', 'constructor', 'limit[]', 'Limit', 'companyId'),
  );
  const unknown = fc.tuple(names, fc.string({ maxLength: 12 })).map(([name, text]) => (draft: Draft) => {
    const isKnown = draft.operation.parameters.some((each) => each.name === name);
    const added = isKnown ? `${name}_` : name;
    return faulty(
      { ...draft, query: [...draft.query, [encodeURIComponent(added), encodeURIComponent(text)]] },
      `unknown query parameter ${added}`,
    );
  });
  const twice = fc.nat(20).map((number) => (draft: Draft) => {
    const filled = draft.query.filter(([, text]) => text !== '');
    const pair = filled[number % Math.max(1, filled.length)] ?? ['colour', 'red'];
    return faulty({ ...draft, query: [...draft.query, pair] }, `query parameter ${pair[0]} twice or unknown`);
  });
  return fc.oneof(unknown, twice);
}

function parameterFaults(
  document: Json,
  each: DocumentedParameter,
): Arbitrary<(draft: Draft) => FaultyDraft> {
  const { name } = each;
  if (each.in === 'header') {
    const length = Number(each.schema['maxLength']) + 1;
    const texts = fc.constantFrom<string | string[]>('x'.repeat(length), ['a', 'b']);
    return texts.map((text) => (draft: Draft) => {
      const why = typeof text === 'string' ? 'is too long' : 'is given twice';
      // A list of tags may come in several headers.
      const isList = name === 'If-Match' && typeof text !== 'string';
      const value = isList ? 'x'.repeat(length) : text;
      return faulty({ ...draft, headers: { ...draft.headers, [name]: value } }, `header ${name} ${why}`);
    });
  }
  const values = refusedByParameter(document, each.schema).map(({ value, why }) => ({
    encoded: encodeURIComponent(String(value)),
    why,
  }));
  const broken = fc
    .constantFrom('%zz', '%FF', '%E0%A4%A')
    .map((encoded) => ({ encoded, why: 'is not encoded' }));
  const missing = fc.constant({ encoded: undefined, why: 'is missing' });
  const choices = each.in === 'query' && each.required ? [values, broken, missing] : [values, broken];
  return fc.oneof(...choices).map(({ encoded, why }) => (draft: Draft) => {
    if (each.in === 'path') {
      const path = { ...draft.path, [name]: () => encoded ?? '' };
      return faulty({ ...draft, path }, `path parameter ${name} ${why}`);
    }
    const others = draft.query.filter(([other]) => other !== name);
    const query = encoded === undefined ? others : [...others, [name, encoded] as const];
    return faulty({ ...draft, query }, `query parameter ${name} ${why}`);
  });
}

function bodyFaults(
  document: Json,
  { schema, required: isRequired }: NonNullable<DocumentedOperation['body']>,
): Arbitrary<(draft: Draft) => FaultyDraft> {
  const properties = Object.entries(schema['properties'] ?? {});
  const required = Object.values(schema['required'] ?? {}).map(String);
  const ofFields = properties.map(([name, property]) =>
    refusedByField(document, property, required.includes(name)).map(
      ({ value, why }) =>
        (draft: Draft) =>
          faulty(withFields(draft, { [name]: value }), `field ${name} ${why}`),
    ),
  );
  const unknown = fc
    .oneof(fc.constantFrom('colour', 'constructor', 'toString', 'a/b', ''), fc.string({ maxLength: 8 }))
    .map((name) => (draft: Draft) => {
      const added = properties.some(([known]) => known === name) || name === '__proto__' ? 'colour' : name;
      return faulty(withFields(draft, { [added]: 1 }), `unknown field ${added}`);
    });
  const missing = required.map((name) =>
    fc
      .constantFrom(undefined, null, '')
      .map(
        (value) => (draft: Draft) => faulty(withFields(draft, { [name]: value }), `field ${name} is missing`),
      ),
  );
  const none = fc.constant((draft: Draft) => faulty({ ...draft, body: undefined }, 'no body'));
  const missingBody = isRequired ? [none] : [];
  return fc.oneof(...ofFields, unknown, ...missing, ...missingBody, rawBodyFaults);
}

const rawBodyFaults: Arbitrary<(draft: Draft) => FaultyDraft> = fc
  .oneof(
    fc
      .constantFrom(
        '[]',
        '"text"',
        '5',
        'true',
        '{',
        '{"a":}',
        "{'a':1}",
        '{}{}',
        'NaN',
        '\u{FEFF}{}x',
        '[[[[',
      )
      .map((text) => [text, `body ${text}`, 400] as const),
    fc
      .constantFrom(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), Buffer.from([0xc0, 0xaf]))
      .map((bytes) => [bytes, 'body that is not UTF-8', 400] as const),
    fc
      .constantFrom('{"__proto__":{"isAdmin":true}}', '{"a":"\\ud800"}', '{"a":1e400}')
      .map((text) => [text, `body ${text}`, 400] as const),
    fc.constant([`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'bottomless body', 400] as const),
    fc.constant([`{"name":"${'x'.repeat(103_000)}"}`, 'body over 100 kB', 413] as const),
    fc
      .constantFrom(
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/jsonx',
        'application/json; charset=utf-16',
      )
      .map((type) => [type, `content type ${type}`, 415] as const),
  )
  .map(([content, why, status]) => (draft: Draft) => {
    const changed =
      status === 415
        ? {
            ...draft,
            body: draft.body ?? '{}',
            headers: { ...draft.headers, 'content-type': String(content) },
          }
        : { ...draft, body: content };
    return { draft: changed, why, status };
  });

function withFields(draft: Draft, fields: Fields): Draft {
  const sent = JSON.parse(draft.body?.toString() ?? '{}');
  // A field of the name __proto__ inside of a value stays one, as JSON.parse makes it.
  return { ...draft, body: JSON.stringify({ ...sent, ...fields }) };
}

function faulty(draft: Draft, why: string, status = 400): FaultyDraft {
  return { draft, why, status };
}
