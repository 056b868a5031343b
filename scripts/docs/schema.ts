import { prose } from './markdown.ts';
import { escapeHtml } from './markup.ts';

/** The words of JSON Schema that the documents use. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly readOnly?: boolean;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** What the pattern demands, in words. */
  readonly 'x-form'?: string;
};

export type Schemas = Readonly<Record<string, Schema>>;

/** A parameter, a header or a field: its name, and what a reader has to know of it. */
type Field = {
  readonly name: string;
  readonly schema: Schema;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly deprecated?: boolean | undefined;
  readonly example?: unknown;
};

type Side = 'request' | 'answer';

/** Renders the fields of an area's bodies, headers and parameters. */
export type FieldList = {
  /** Fields as a list; nothing where there are none. */
  readonly fields: (fields: readonly Field[], of: Side) => string;
  /** The fields of a body. Of a request it leaves out what only answers have. */
  readonly body: (schema: Schema, of: Side) => string;
};

const number = (value: number) => value.toLocaleString('en');

function range(least: number | undefined, most: number | undefined, unit = ''): string[] {
  const [from, to] = [least, most].map((bound) => (bound === undefined ? undefined : number(bound)));
  const what = unit === '' ? '' : ` ${unit}`;
  if (from !== undefined && to !== undefined)
    return [from === to ? `${to}${what}` : `${from} to ${to}${what}`];
  if (to !== undefined) return [`at most ${to}${what}`];
  return from === undefined ? [] : [`at least ${from}${what}`];
}

const typeName = ({ type = [], format }: Schema) =>
  `${[type].flat().join(' or ')}${format === undefined ? '' : ` (${format})`}`;

const limitsOf = ({ minLength, maxLength, minimum, maximum, minItems, maxItems }: Schema) => [
  ...range(minLength, maxLength, 'characters'),
  ...range(minimum, maximum),
  ...range(minItems, maxItems, 'entries'),
];

/** The type of a value with its limits, such as `string or null (date-time), at most 40 characters`. */
function typeText(schema: Schema, entry: Schema | undefined): string {
  const name = typeName(schema);
  const each = entry ? limitsOf(entry).map((limit) => `each ${limit}`) : [];
  const named = entry ? name.replace('array', `list of ${typeName(entry)}`) : name;
  return [named, ...limitsOf(schema), ...each].join(', ');
}

// Texts of a request may have every character that PostgreSQL stores; the service itself says when one does not.
const anyText = '^[^\\x00]*$';

/** The pattern of a text that the document describes in no other way. */
const patternText = ({ pattern, format, 'x-form': words }: Schema) =>
  pattern === undefined || pattern === anyText || (format ?? words) !== undefined
    ? ''
    : ` <code>${escapeHtml(pattern)}</code>`;

const code = (value: unknown) =>
  `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;

const choices = ({ enum: values }: Schema) =>
  values === undefined ? '' : `<p>One of ${values.map(code).join(', ')}.</p>`;

/** @param schemas what the schemas of an area refer to */
export function createFieldList(schemas: Schemas): FieldList {
  const nameOf = ({ $ref }: Schema) => $ref?.split('/').at(-1) ?? '';
  const resolve = (schema: Schema): Schema => ({ ...schemas[nameOf(schema)], ...schema });

  /** @param around the schemas that the field lies in, which are not shown again */
  function fieldItem({ name, example, ...field }: Field, of: Side, around: readonly string[]): string {
    const schema = resolve(field.schema);
    const inner = schema.items && resolve(schema.items);
    // Of a list it is the entries that have a form, choices and fields.
    const value = inner ?? schema;
    const valueName = nameOf(schema.items ?? field.schema);
    const nested =
      valueName !== '' && around.includes(valueName)
        ? ''
        : list(fieldsOf(value, of), of, [...around, valueName]);
    const description = field.description ?? schema.description ?? '';
    const marks = [
      // Answers have all of their fields, with few exceptions.
      of === 'request' && field.required ? ' <b>required</b>' : '',
      of === 'answer' && field.required === false ? ' <span>may be absent</span>' : '',
      field.deprecated || schema.deprecated ? ' <span class="tag">deprecated</span>' : '',
    ];
    return [
      `<li><p class="field-name">${code(name)} <span>${escapeHtml(typeText(schema, inner))}${patternText(value)}</span>${marks.join('')}</p>`,
      prose(description, ''),
      value['x-form'] === undefined ? '' : `<p>It must be ${escapeHtml(value['x-form'])}.</p>`,
      choices(value),
      example === undefined || example === '' ? '' : `<p>Example: ${code(example)}</p>`,
      nested === '' ? '' : `<details><summary>Fields of ${code(name)}</summary>${nested}</details>`,
      '</li>',
    ].join('');
  }

  const list = (fields: readonly Field[], of: Side, around: readonly string[]) =>
    fields.length === 0
      ? ''
      : `<ul class="fields">${fields.map((field) => fieldItem(field, of, around)).join('\n')}</ul>`;

  function fieldsOf({ properties = {}, required = [] }: Schema, of: Side): Field[] {
    const all = Object.entries(properties).map(([name, schema]) => ({
      name,
      schema,
      required: required.includes(name),
    }));
    const shown = all.filter(({ schema }) => of === 'answer' || !schema.readOnly);
    return shown.toSorted((a, b) => Number(b.required) - Number(a.required));
  }

  return {
    fields: (fields, of) => list(fields, of, []),
    body: (schema, of) => {
      const whole = resolve(schema);
      return list(fieldsOf(whole.items ? resolve(whole.items) : whole, of), of, [
        nameOf(whole.items ?? schema),
      ]);
    },
  };
}
