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
const input = 'components schemas NewThing';
const output = 'components schemas Thing';
const ping = { operationId: 'pong', tags: ['Things'], responses: { 204: { description: 'Pong.' } } };
const sizes = [{ type: 'string' }, { type: 'integer' }, { type: 'boolean' }];
const optional = { name: 'page', in: 'query', schema: { type: 'integer' } };

const classesOf = (before: JsonObject, after: JsonObject) =>
  compareDocuments(before, after).map((change) => change.class);

/** Changes, each with its class, that of the way back, and its place: what is put there, or taken away. */
type Changes = readonly (readonly [name: ChangeClass, back: ChangeClass, place: string, value?: Json])[];
const groups: readonly { readonly subject: string; readonly at: string; readonly changes: Changes }[] = [
  {
    subject: 'document',
    at: 'servers',
    changes: [['server-removed', 'server-added', '1']],
  },
  {
    subject: 'GET /ping',
    at: 'paths',
    changes: [
      ['path-removed', 'path-added', '/ping'],
      ['operation-id-changed', 'operation-id-changed', '/ping get', ping],
    ],
  },
  {
    subject: 'DELETE /thing/{id}',
    at: 'paths /thing/{id}',
    changes: [
      ['operation-removed', 'operation-added', 'delete'],
      ['optional-parameter-added', 'parameter-removed', 'delete parameters', [optional]],
    ],
  },
  {
    subject: 'GET /thing',
    at: list,
    changes: [
      ['security-added', 'security-widened', 'security', [{ Key: [] }]],
      ['parameter-removed', 'optional-parameter-added', 'parameters 0'],
      ['parameter-removed', 'required-parameter-added', 'parameters 1'],
      ['parameter-became-required', 'parameter-became-optional', 'parameters 0 required', true],
      ['parameter-form-changed', 'parameter-form-changed', 'parameters 0 explode', false],
      ['status-removed', 'status-added', 'responses 404'],
      ['header-removed', 'header-added', 'responses 200 headers X-Hint'],
      ['header-became-optional', 'header-became-required', 'responses 200 headers X-Count required', false],
      ['output-media-type-removed', 'output-media-type-added', 'responses 200 content text/csv'],
      ['tag-changed', 'tag-changed', 'tags', ['Other']],
      ['input-default-changed', 'input-default-changed', 'parameters 0 schema default', 20],
      ['text-changed', 'text-changed', 'summary', 'List things'],
    ],
  },
  {
    subject: 'securitySchemes/Key',
    at: 'components securitySchemes Key',
    changes: [['security-scheme-changed', 'security-scheme-changed', 'name', 'authorization']],
  },
  {
    subject: 'PUT /thing/{id}',
    at: 'paths /thing/{id} put',
    changes: [
      ['body-removed', 'required-body-added', 'requestBody'],
      ['input-media-type-removed', 'input-media-type-added', 'requestBody content application/xml'],
    ],
  },
  {
    subject: 'PATCH /thing/{id}',
    at: 'paths /thing/{id} patch',
    changes: [
      ['body-removed', 'optional-body-added', 'requestBody'],
      ['body-became-required', 'body-became-optional', 'requestBody required', true],
    ],
  },
  {
    subject: 'schemas/NewThing',
    at: input,
    changes: [
      ['input-property-removed', 'input-property-added', 'properties note'],
      ['input-property-became-required', 'input-property-became-optional', 'required', ['name', 'note']],
      ['input-property-became-read-only', 'input-property-added', 'properties note readOnly', true],
      ['input-type-narrowed', 'input-type-widened', 'properties note type', ['string', 'null']],
      ['input-null-refused', 'input-null-accepted', 'properties note type', ['string', 'integer']],
      ['input-enum-narrowed', 'input-enum-widened', 'properties colour enum', ['red']],
      ['input-limit-narrowed', 'input-limit-widened', 'properties name maxLength', 40],
      ['input-limit-narrowed', 'input-limit-narrowed', 'properties name pattern', '^a$'],
      ['input-limit-narrowed', 'input-limit-widened', 'properties note minLength', 1],
      ['input-closed', 'input-opened', 'properties extra additionalProperties', false],
      ['input-alternative-removed', 'input-alternative-added', 'properties size oneOf 1'],
    ],
  },
  {
    subject: 'schemas/Thing',
    at: output,
    changes: [
      ['output-property-removed', 'output-property-added', 'properties note'],
      ['output-property-became-optional', 'output-property-became-required', 'required', ['name']],
      ['output-type-widened', 'output-type-narrowed', 'properties name type', ['string', 'integer']],
      ['output-null-added', 'output-null-removed', 'properties name type', ['string', 'null']],
      ['output-enum-widened', 'output-enum-narrowed', 'properties colour enum', ['red', 'green', 'blue']],
      ['output-alternative-added', 'output-alternative-removed', 'properties size oneOf', sizes],
      ['output-limit-widened', 'output-limit-narrowed', 'properties name maxLength', 60],
      ['output-opened', 'output-closed', 'properties extra additionalProperties', true],
      ['word-changed', 'word-changed', 'properties name not', { const: 'nobody' }],
    ],
  },
];
const samples = groups.flatMap(({ subject, at, changes }) =>
  changes.map(([name, back, place, value]) => ({
    name,
    subject,
    back,
    after: changed(`${at} ${place}`, value),
  })),
);

describe.each(samples)('$name of $subject', ({ name, subject, back, after }) => {
  test('is told, and nothing besides', () => {
    const found = compareDocuments(sample, after);
    expect(new Set(found.map((change) => change.class))).toEqual(new Set([name]));
    expect(new Set(found.map((change) => change.severity))).toEqual(new Set([severities[name]]));
    expect(new Set(found.map((change) => change.subject))).toEqual(new Set([subject]));
  });

  test(`is ${back} on the way back`, () => {
    expect(classesOf(after, sample)).toContain(back);
  });
});

test('every class has a sample', () => {
  const shown = new Set([...samples.flatMap(({ name, back }) => [name, back]), ...shownBelow]);
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
    expect(new Set(classesOf(sample, after))).toEqual(new Set(['component-renamed']));
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
    const told = classesOf(sample, changed(`${name} x-message-required`, 'Name is required'));
    expect(new Set(told)).toEqual(new Set(['text-changed']));
  });

  test('an integer where any number was is narrower, a number where an integer was is wider', () => {
    const wide = changed(`${list} parameters 0 schema type`, 'number');
    expect(classesOf(sample, wide)).toEqual(['input-type-widened']);
    expect(classesOf(wide, sample)).toEqual(['input-type-narrowed']);
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
    expect(classesOf(sample, after)).toEqual(['operation-deprecated']);
  });

  test('a schema that moved into a component is compared with what it was, round in a circle too', () => {
    const written = changed(`${list} responses 200 content application/json schema items`, {
      type: 'object',
      required: ['name', 'children'],
      properties: { name: { type: 'string' }, children: { type: 'array', items: {} } },
    });
    const classes = classesOf(written, sample);
    expect(classes).toContain('output-limit-narrowed');
    expect(classes).not.toContain('output-property-removed');
  });
});
