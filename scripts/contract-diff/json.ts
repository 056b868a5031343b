/** What a parsed JSON document is made of. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json | undefined } & { readonly [W in Word]?: Json };

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Words of OpenAPI and JSON Schema that are read by name. */
type Word =
  | '$ref'
  | 'additionalProperties'
  | 'const'
  | 'default'
  | 'deprecated'
  | 'description'
  | 'enum'
  | 'in'
  | 'items'
  | 'operationId'
  | 'parameters'
  | 'paths'
  | 'readOnly'
  | 'requestBody'
  | 'required'
  | 'schema'
  | 'security'
  | 'tags'
  | 'type'
  | 'unevaluatedProperties';

/** The object at `key`, or an empty one. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const found = value[key];
  return isObject(found) ? found : {};
}

/** The objects of the list at `key`. */
export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The text at `key`, or an empty one. */
export function textAt(value: JsonObject, key: string): string {
  const found = value[key];
  return typeof found === 'string' ? found : '';
}

/** Values of a word that a message quotes: JSON, cut where it gets long. */
export function quote(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Keys of either object: those that are only in the first, in both, and only in the second. */
export function compareKeys(before: JsonObject, after: JsonObject) {
  return {
    removed: Object.keys(before).filter((key) => !(key in after)),
    kept: Object.keys(before).filter((key) => key in after),
    added: Object.keys(after).filter((key) => !(key in before)),
  };
}
