import type { ErrorObject } from 'ajv/dist/2020.js';
import type { SchemaObject } from '../../contract/documents.ts';
import { shortName } from './api-request.ts';

// The pattern of every text of a request. findUnsafeValues reports a text that breaks it.
export const anyText = '^[^\\x00]*$';

const formatForms: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  'date-time': 'an RFC 3339 date-time with an offset',
  date: 'an RFC 3339 date',
  uri: 'a URI',
  email: 'an email address',
};

/** Says what a valid value would be, such as `limit must be an integer from 1 to 100`. */
export function describeFault(name: string, error: ErrorObject): string {
  const schema: SchemaObject = error.parentSchema ?? {};
  const short = shortName(name);
  switch (error.keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `Unknown ${error.instancePath.startsWith('/query') ? 'query parameter' : 'field'}: ${short}`;
    case 'required':
    case 'dependentRequired':
      return `${short} is required`;
    case 'minLength':
      return error.data === '' ? `${short} must not be empty` : `${short} must be ${formOf(schema)}`;
    case 'x-max-depth':
      return `${short} must not be nested deeper than ${schema['x-max-depth']} levels`;
    case 'x-max-bytes':
      return `${short} must not be larger than ${schema['x-max-bytes']} bytes as JSON`;
    case 'minProperties':
      return `${short} must have at least ${schema['minProperties']} field(s)`;
    case 'uniqueItems':
      return `${short} must not have an item twice`;
    case 'multipleOf':
      return `${short} must be a multiple of ${schema['multipleOf']}`;
    default:
      return `${short} must be ${formOf(schema)}`;
  }
}

function formOf(schema: SchemaObject): string {
  const types = [schema.type ?? []].flat();
  const forms = types.filter((type) => type !== 'null').map((type) => formOfType(type, schema));
  const nullable = types.includes('null') ? ' or null' : '';
  if (forms.length === 0) return valuesOf(schema) ?? 'of another form';
  return `${forms.join(' or ')}${nullable}`;
}

function formOfType(type: string, schema: SchemaObject): string {
  switch (type) {
    case 'integer':
      return `an integer${range(schema['minimum'], schema['maximum'])}`;
    case 'number':
      return `a number${range(schema['minimum'], schema['maximum'])}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `an array${counted(schema['minItems'], schema['maxItems'], 'items')}`;
    case 'object':
      return 'an object';
    default:
      return formOfText(schema);
  }
}

function formOfText(schema: SchemaObject): string {
  const values = valuesOf(schema);
  if (values !== undefined) return values;
  const { pattern, format, 'x-form': form } = schema;
  if (form !== undefined) return form;
  if (typeof format === 'string') return formatForms[format] ?? `a string of the format ${format}`;
  if (typeof pattern === 'string' && pattern !== anyText) return `a string that matches ${pattern}`;
  return `a string${counted(schema['minLength'], schema['maxLength'], 'characters')}`;
}

function valuesOf(schema: SchemaObject): string | undefined {
  const values = Array.isArray(schema['enum']) ? schema['enum'] : [];
  if (values.length > 1) return `one of ${values.join(', ')}`;
  const only: unknown = values[0] ?? schema['const'];
  return only === undefined ? undefined : String(only);
}

function range(min: unknown, max: unknown): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` from ${min}`;
  return max === undefined ? '' : ` up to ${max}`;
}

function counted(min: unknown, max: unknown, what: string): string {
  if (min !== undefined && max !== undefined) return ` of ${min} to ${max} ${what}`;
  if (min !== undefined) return ` of at least ${min} ${what}`;
  return max === undefined ? '' : ` of at most ${max} ${what}`;
}
