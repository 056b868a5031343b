import { describe, expect, test } from 'vitest';
import { type ChangeClass, severities } from '../../scripts/contract-diff/change.ts';
import { compareDocuments } from '../../scripts/contract-diff/compare-documents.ts';
import { isObject, type Json, type JsonObject } from '../../scripts/contract-diff/json.ts';
import { sample } from './sample-document.ts';

/** The sample with the value at `path` (steps parted by a space) replaced, or taken out. */
function changed(path: string, value?: Json): JsonObject {
  const put = (node: Json | undefined, [step = '', ...rest]: readonly string[]): Json => {
    const copy: Record<string, Json | undefined> = isObject(node) ? { ...node } : {};
    if (Array.isArray(node)) {
      return node.flatMap((one, index) => {
        if (String(index) !== step) return [one];
        return rest.length === 0 ? (value === undefined ? [] : [value]) : [put(one, rest)];
      });
    }
    if (rest.length > 0) copy[step] = put(copy[step], rest);
    else if (value === undefined) delete copy[step];
    else copy[step] = value;
    return copy as JsonObject; // without undefined values but where one was put
  };
  return put(sample, path.split(' ')) as JsonObject; // an object goes in, so one comes out
}

const list = 'paths /thing get';
const put = 'paths /thing/{id} put';
const input = 'components schemas NewThing';
const output = 'components schemas Thing';
const ping = { operationId: 'pong', tags: ['Things'], responses: { 204: { description: 'Pong.' } } };
const optional = { name: 'page', in: 'query', schema: { type: 'integer' } };

/** A change that has just this class, and what the way back from it is. */
const samples: readonly (readonly [ChangeClass, string, JsonObject, ChangeClass])[] = [
  ['server-removed', 'document', changed('servers 1'), 'server-added'],
  ['path-removed', 'GET /ping', changed('paths /ping'), 'path-added'],
  ['operation-removed', 'DELETE /thing/{id}', changed('paths /thing/{id} delete'), 'operation-added'],
  ['operation-id-changed', 'GET /ping', changed('paths /ping get', ping), 'operation-id-changed'],
  ['security-added', 'GET /thing', changed(`${list} security`, [{ Key: [] }]), 'security-widened'],
  [
    'security-scheme-changed',
    'securitySchemes/Key',
    changed('components securitySchemes Key name', 'authorization'),
    'security-scheme-changed',
  ],
  ['parameter-removed', 'GET /thing', changed(`${list} parameters 0`), 'optional-parameter-added'],
  ['parameter-removed', 'GET /thing', changed(`${list} parameters 1`), 'required-parameter-added'],
  [
    'parameter-became-required',
    'GET /thing',
    changed(`${list} parameters 0 required`, true),
    'parameter-became-optional',
  ],
  [
    'parameter-form-changed',
    'GET /thing',
    changed(`${list} parameters 0 explode`, false),
    'parameter-form-changed',
  ],
  ['body-removed', 'PUT /thing/{id}', changed(`${put} requestBody`), 'required-body-added'],
  [
    'body-removed',
    'PATCH /thing/{id}',
    changed('paths /thing/{id} patch requestBody'),
    'optional-body-added',
  ],
  [
    'body-became-required',
    'PATCH /thing/{id}',
    changed('paths /thing/{id} patch requestBody required', true),
    'body-became-optional',
  ],
  ['status-removed', 'GET /thing', changed(`${list} responses 404`), 'status-added'],
  ['header-removed', 'GET /thing', changed(`${list} responses 200 headers X-Hint`), 'header-added'],
  [
    'header-became-optional',
    'GET /thing',
    changed(`${list} responses 200 headers X-Count required`, false),
    'header-became-required',
  ],
  [
    'input-media-type-removed',
    'PUT /thing/{id}',
    changed(`${put} requestBody content application/xml`),
    'input-media-type-added',
  ],
  ['input-property-removed', 'schemas/NewThing', changed(`${input} properties note`), 'input-property-added'],
  [
    'input-property-became-required',
    'schemas/NewThing',
    changed(`${input} required`, ['name', 'note']),
    'input-property-became-optional',
  ],
  [
    'input-property-became-read-only',
    'schemas/NewThing',
    changed(`${input} properties note readOnly`, true),
    'input-property-added',
  ],
  [
    'input-type-narrowed',
    'schemas/NewThing',
    changed(`${input} properties note type`, ['string', 'null']),
    'input-type-widened',
  ],
  [
    'input-null-refused',
    'schemas/NewThing',
    changed(`${input} properties note type`, ['string', 'integer']),
    'input-null-accepted',
  ],
  [
    'input-enum-narrowed',
    'schemas/NewThing',
    changed(`${input} properties colour enum`, ['red']),
    'input-enum-widened',
  ],
  [
    'input-limit-narrowed',
    'schemas/NewThing',
    changed(`${input} properties name maxLength`, 40),
    'input-limit-widened',
  ],
  [
    'input-limit-narrowed',
    'schemas/NewThing',
    changed(`${input} properties name pattern`, '^a$'),
    'input-limit-narrowed',
  ],
  [
    'input-limit-narrowed',
    'schemas/NewThing',
    changed(`${input} properties note minLength`, 1),
    'input-limit-widened',
  ],
  [
    'input-closed',
    'schemas/NewThing',
    changed(`${input} properties extra additionalProperties`, false),
    'input-opened',
  ],
  [
    'input-alternative-removed',
    'schemas/NewThing',
    changed(`${input} properties size oneOf 1`),
    'input-alternative-added',
  ],
  [
    'output-media-type-removed',
    'GET /thing',
    changed(`${list} responses 200 content text/csv`),
    'output-media-type-added',
  ],
  ['output-property-removed', 'schemas/Thing', changed(`${output} properties note`), 'output-property-added'],
  [
    'output-property-became-optional',
    'schemas/Thing',
    changed(`${output} required`, ['name']),
    'output-property-became-required',
  ],
  [
    'output-type-widened',
    'schemas/Thing',
    changed(`${output} properties name type`, ['string', 'integer']),
    'output-type-narrowed',
  ],
  [
    'output-null-added',
    'schemas/Thing',
    changed(`${output} properties name type`, ['string', 'null']),
    'output-null-removed',
  ],
  [
    'output-enum-widened',
    'schemas/Thing',
    changed(`${output} properties colour enum`, ['red', 'green', 'blue']),
    'output-enum-narrowed',
  ],
  [
    'output-alternative-added',
    'schemas/Thing',
    changed(`${output} properties size oneOf`, [
      { type: 'string' },
      { type: 'integer' },
      { type: 'boolean' },
    ]),
    'output-alternative-removed',
  ],
  [
    'output-limit-widened',
    'schemas/Thing',
    changed(`${output} properties name maxLength`, 60),
    'output-limit-narrowed',
  ],
  [
    'output-opened',
    'schemas/Thing',
    changed(`${output} properties extra additionalProperties`, true),
    'output-closed',
  ],
  ['tag-changed', 'GET /thing', changed(`${list} tags`, ['Other']), 'tag-changed'],
  [
    'input-default-changed',
    'GET /thing',
    changed(`${list} parameters 0 schema default`, 20),
    'input-default-changed',
  ],
  [
    'word-changed',
    'schemas/Thing',
    changed(`${output} properties name not`, { const: 'nobody' }),
    'word-changed',
  ],
  ['text-changed', 'GET /thing', changed(`${list} summary`, 'List things'), 'text-changed'],
  [
    'optional-parameter-added',
    'DELETE /thing/{id}',
    changed('paths /thing/{id} delete parameters', [optional]),
    'parameter-removed',
  ],
];

describe.each(samples)('%s of %s', (name, subject, after, back) => {
  test('is told, and nothing besides', () => {
    const found = compareDocuments(sample, after);
    expect(new Set(found.map((change) => change.class))).toEqual(new Set([name]));
    expect(new Set(found.map((change) => change.severity))).toEqual(new Set([severities[name]]));
    expect(new Set(found.map((change) => change.subject))).toEqual(new Set([subject]));
  });

  test(`is ${back} on the way back`, () => {
    expect(compareDocuments(after, sample).map((change) => change.class)).toContain(back);
  });
});

test('every class has a sample', () => {
  const shown = new Set([...samples.flatMap(([name, , , back]) => [name, back]), ...shownBelow]);
  expect(Object.keys(severities).filter((name) => !shown.has(name as ChangeClass))).toEqual([]); // its own keys
});

const shownBelow: readonly ChangeClass[] = [
  'path-parameter-renamed',
  'component-renamed',
  'operation-deprecated',
];

describe('other names', () => {
  test('a path parameter is the same under another name, and told as risky', () => {
    const text = JSON.stringify(sample).replaceAll('/thing/{id}', '/thing/{thingId}');
    const after = JSON.parse(text.replaceAll('"name":"id"', '"name":"thingId"'));
    const found = compareDocuments(sample, after);
    expect(new Set(found.map((change) => change.class))).toEqual(new Set(['path-parameter-renamed']));
    expect(found[0]?.severity).toBe('risky');
  });

  test('a component is compared under its new name, and told as risky', () => {
    const after = JSON.parse(JSON.stringify(sample).replaceAll('NewThing', 'ThingInput'));
    const found = compareDocuments(sample, after);
    expect(new Set(found.map((change) => change.class))).toEqual(new Set(['component-renamed']));
  });

  test('headers are the same in any case', () => {
    const after = JSON.parse(
      JSON.stringify(sample).replaceAll('X-Count', 'x-count').replaceAll('Trace', 'trace'),
    );
    expect(compareDocuments(sample, after)).toEqual([]);
  });
});

describe('what stays the same', () => {
  test('a document has no difference from itself', () => {
    expect(compareDocuments(sample, structuredClone(sample))).toEqual([]);
  });

  test('words for refusals are no difference, but for the message of a missing field', () => {
    const name = `${input} properties name`;
    expect(compareDocuments(sample, changed(`${name} x-form`, 'small letters'))).toEqual([]);
    expect(compareDocuments(sample, changed(`${name} x-code-required`, 'name_required'))).toEqual([]);
    const told = compareDocuments(sample, changed(`${name} x-message-required`, 'Name is required'));
    expect(new Set(told.map((change) => change.class))).toEqual(new Set(['text-changed']));
  });

  test('an integer where any number was is narrower, a number where an integer was is wider', () => {
    const wide = changed(`${list} parameters 0 schema type`, 'number');
    expect(compareDocuments(sample, wide).map((change) => change.class)).toEqual(['input-type-widened']);
    expect(compareDocuments(wide, sample).map((change) => change.class)).toEqual(['input-type-narrowed']);
  });

  test('a width that the bounds keep within anyway limits nothing, and one that they do not is narrower', () => {
    const countOf = (words: JsonObject) =>
      changed(`${input} properties count`, { type: 'integer', ...words });
    const bounds = { minimum: 0, maximum: 2 ** 31 - 1 };
    for (const format of ['int32', 'int64', 'double']) {
      expect(compareDocuments(countOf(bounds), countOf({ ...bounds, format }))).toEqual([]);
    }
    const beyond = { minimum: 0, maximum: 2 ** 31 };
    for (const words of [{}, beyond, { maximum: 5 }]) {
      const [change, ...others] = compareDocuments(countOf(words), countOf({ ...words, format: 'int32' }));
      expect([change?.class, others]).toEqual(['input-limit-narrowed', []]);
    }
  });

  test('a deprecated operation is told and safe', () => {
    const after = changed(`${list} deprecated`, true);
    expect(compareDocuments(sample, after).map((change) => change.class)).toEqual(['operation-deprecated']);
  });

  test('a schema that moved into a component is compared with what it was, round in a circle too', () => {
    const written = changed(`${list} responses 200 content application/json schema items`, {
      type: 'object',
      required: ['name', 'children'],
      properties: { name: { type: 'string' }, children: { type: 'array', items: {} } },
    });
    const classes = compareDocuments(written, sample).map((change) => change.class);
    expect(classes).toContain('output-limit-narrowed');
    expect(classes).not.toContain('output-property-removed');
  });
});
