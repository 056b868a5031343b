import { type Direction, type Scope, tell } from './change.ts';
import { type Json, type JsonObject, quote } from './json.ts';

const everyType = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** Types and lists of values: which values the schema lets through. */
export function compareValues(
  before: JsonObject,
  after: JsonObject,
  direction: Direction,
  scope: Scope,
): void {
  compareTypes(typesOf(before), typesOf(after), direction, scope);
  compareNull(isNullable(before), isNullable(after), direction, scope);
  compareEnums(valuesOf(before), valuesOf(after), direction, scope);
}

/** The types that a schema allows but null; every number includes the integers. */
function typesOf({ type }: JsonObject): readonly string[] {
  const listed = typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : everyType;
  const types = listed.includes('number') ? [...listed, 'integer'] : listed;
  return [...new Set(types)].filter((name) => name !== 'null');
}

function compareTypes(
  before: readonly string[],
  after: readonly string[],
  direction: Direction,
  scope: Scope,
): void {
  const removed = before.filter((type) => !after.includes(type));
  const added = after.filter((type) => !before.includes(type));
  const input = direction === 'input';
  if (removed.length > 0)
    tell(scope, input ? 'input-type-narrowed' : 'output-type-narrowed', `no longer ${removed.join(', ')}`);
  if (added.length > 0)
    tell(scope, input ? 'input-type-widened' : 'output-type-widened', `also ${added.join(', ')}`);
}

function isNullable(schema: JsonObject): boolean {
  const { type } = schema;
  const allowed = type === undefined || type === 'null' || (Array.isArray(type) && type.includes('null'));
  return allowed && (listed(schema)?.includes(null) ?? true);
}

function compareNull(before: boolean, after: boolean, direction: Direction, scope: Scope): void {
  if (before === after) return;
  if (direction === 'input')
    tell(
      scope,
      after ? 'input-null-accepted' : 'input-null-refused',
      `null is ${after ? '' : 'not '}accepted`,
    );
  else tell(scope, after ? 'output-null-added' : 'output-null-removed', `is ${after ? 'now' : 'never'} null`);
}

function listed({ enum: values, const: only }: JsonObject): readonly Json[] | undefined {
  if (only !== undefined) return [only];
  return Array.isArray(values) ? values : undefined;
}

/** The values that a schema lists but null, as JSON; undefined when it lists none. */
function valuesOf(schema: JsonObject): readonly string[] | undefined {
  return listed(schema)
    ?.filter((value) => value !== null)
    .map((value) => JSON.stringify(value));
}

function compareEnums(
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
  direction: Direction,
  scope: Scope,
): void {
  const removed = before === undefined ? [] : before.filter((value) => after?.includes(value) === false);
  const added = after === undefined ? [] : after.filter((value) => before?.includes(value) === false);
  const narrowed = removed.length > 0 || (before === undefined && after !== undefined);
  const widened = added.length > 0 || (before !== undefined && after === undefined);
  if (narrowed) tell(scope, `${direction}-enum-narrowed`, `no longer ${quoteAll(removed) || 'any value'}`);
  if (widened) tell(scope, `${direction}-enum-widened`, `also ${quoteAll(added) || 'any value'}`);
}

function quoteAll(values: readonly string[]): string {
  return values.map((value) => quote(JSON.parse(value))).join(', ');
}
