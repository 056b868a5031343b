import type { OperationObject, SchemaObject } from '../../contract/documents.ts';
import type { AnyReply, Caller } from '../../contract/operation.ts';
import { hasScope, isScope } from '../../contract/scopes.ts';

/** Returns a value as a caller may see it. */
type Hide = (value: unknown, caller: Pick<Caller, 'scopes'>) => unknown;

/**
 * Compiles what replaces fields of replies by null for keys that lack their scope. The document marks such a field with
 * `x-required-scope`, so no handler can forget it, and stored replies are treated like new replies.
 * @param operation with its references resolved
 * @returns undefined where no field needs a scope
 */
export function compileHiding(operationId: string, { responses = {} }: OperationObject) {
  const byStatus = new Map<number, Hide>();
  for (const [status, response] of Object.entries(responses)) {
    const { content } = response as ResponseObject; // by OpenAPI's own shape
    const hide = hiding(operationId, content?.['application/json']?.schema ?? {}, new Set());
    if (hide !== undefined) byStatus.set(Number(status), hide);
  }
  if (byStatus.size === 0) return undefined;
  return (reply: AnyReply, caller: Pick<Caller, 'scopes'>): AnyReply => {
    const hide = caller.scopes === null ? undefined : byStatus.get(reply.status);
    return hide === undefined ? reply : { ...reply, body: hide(reply.body, caller) };
  };
}

type ResponseObject = { readonly content?: Readonly<Record<string, { readonly schema?: SchemaObject }>> };

function hiding(
  operationId: string,
  schema: SchemaObject,
  above: ReadonlySet<SchemaObject>,
): Hide | undefined {
  if (above.has(schema)) throw new Error(`${operationId}: the schema of a response contains itself`);
  const within = new Set([...above, schema]);
  const items = schema.items && hiding(operationId, schema.items, within);
  if (items !== undefined) return ofList(items);
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]): [string, Hide][] => {
    const { 'x-required-scope': scope } = field;
    if (scope === undefined) {
      const below = hiding(operationId, field, within);
      return below === undefined ? [] : [[name, below]];
    }
    if (!isScope(scope)) throw new Error(`${operationId}: ${name} needs a scope that does not exist`);
    return [[name, (value, caller) => (hasScope(caller, scope) ? value : null)]];
  });
  return fields.length === 0 ? undefined : ofObject(fields);
}

const ofList =
  (items: Hide): Hide =>
  (value, caller) => {
    if (value === null) return null;
    // A stream, say, whose items could not be hidden.
    if (!Array.isArray(value)) throw new Error('a list whose fields need a scope must be an array');
    return value.map((item) => items(item, caller));
  };

const ofObject =
  (fields: readonly [string, Hide][]): Hide =>
  (value, caller) => {
    if (value === null || value === undefined) return value;
    if (typeof value !== 'object') throw new Error('what has fields that need a scope must be an object');
    const shown = new Map<string, unknown>(Object.entries(value));
    for (const [name, hide] of fields) if (shown.has(name)) shown.set(name, hide(shown.get(name), caller));
    return Object.fromEntries(shown);
  };
