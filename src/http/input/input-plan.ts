import { type FixedCode, isFixedCode } from '../../base/errors.ts';
import type { OperationObject, ParameterObject, SchemaObject } from '../../contract/documents.ts';

/** The problem that a missing parameter or field has of its own. */
type MissingInput = { readonly code: FixedCode; readonly message: string };

export type ParameterPlan = {
  readonly in: 'path' | 'query' | 'header';
  /** The name in the document, which handlers and callers see. */
  readonly name: string;
  /** The name in the request, where header names are in lower case. */
  readonly key: string;
  /** The type that the text of the parameter is coerced to before validation. */
  readonly as: 'integer' | 'number' | 'boolean' | 'text' | 'uuid' | 'list';
  /** Absent when the generic message and code apply. */
  readonly whenMissing: MissingInput | undefined;
};

export type BodyPlan = {
  readonly required: boolean;
  /** The top-level fields in the document's order. */
  readonly fields: readonly string[];
  readonly requiredFields: readonly string[];
  readonly readOnlyFields: ReadonlySet<string>;
  /** Fields that may be sent though the schema does not have them: what the path says of a resource that was read. */
  readonly ignoredFields: readonly string[];
  /** By the name of the top-level field. */
  readonly whenMissing: ReadonlyMap<string, MissingInput>;
};

/** The input of an operation, read from the document once. */
export type InputPlan = {
  readonly parameters: readonly ParameterPlan[];
  readonly body: BodyPlan | undefined;
};

/**
 * Reads from an operation what input it takes.
 * @param operation with its references resolved
 * @throws Error when the document uses something that the service does not validate exactly
 */
export function planInput(operationId: string, { parameters = [], requestBody }: OperationObject): InputPlan {
  const content = requestBody?.content['application/json'];
  if (requestBody !== undefined && content === undefined) {
    throw new Error(`${operationId}: only application/json bodies are read`);
  }
  return {
    parameters: parameters.map((parameter) => planParameter(operationId, parameter)),
    body: content && planBody(operationId, content.schema ?? {}, requestBody?.required ?? false),
  };
}

function planParameter(operationId: string, parameter: ParameterObject): ParameterPlan {
  if (parameter.in === 'cookie') throw new Error(`${operationId}: cookie parameters are not read`);
  const schema = parameter.schema ?? {};
  const isHeader = parameter.in === 'header';
  const where = `${operationId}: parameter ${parameter.name}`;
  const as = targetOf(schema, where, parameter);
  if (isHeader && as !== 'text') throw new Error(`${operationId}: header ${parameter.name} must be a string`);
  return {
    in: parameter.in,
    name: parameter.name,
    key: isHeader ? parameter.name.toLowerCase() : parameter.name,
    as,
    whenMissing: missingInput(schema, where),
  };
}

function targetOf(
  { type = 'string', items, format }: SchemaObject,
  where: string,
  { in: place, explode }: ParameterObject,
): ParameterPlan['as'] {
  if (type === 'string') return format === 'uuid' ? 'uuid' : 'text';
  if (type === 'integer' || type === 'number' || type === 'boolean') return type;
  const isTexts = items !== undefined && (items.type ?? 'string') === 'string';
  if (type === 'array' && isTexts && place === 'query' && explode === false) return 'list';
  throw new Error(
    `${where} must be a string, an integer, a number, a boolean, or texts in a query with explode: false`,
  );
}

function planBody(operationId: string, schema: SchemaObject, required: boolean): BodyPlan {
  const fields = Object.entries(schema.properties ?? {});
  const whenMissing = new Map<string, MissingInput>();
  for (const [name, field] of fields) {
    const missing = missingInput(field, `${operationId}: field ${name}`);
    if (missing !== undefined) whenMissing.set(name, missing);
  }
  return {
    required,
    fields: fields.map(([name]) => name),
    requiredFields: schema.required ?? [],
    readOnlyFields: new Set(fields.filter(([, field]) => field.readOnly).map(([name]) => name)),
    ignoredFields: schema['x-ignored-fields'] ?? [],
    whenMissing,
  };
}

function missingInput(schema: SchemaObject, where: string): MissingInput | undefined {
  const { 'x-message-required': message, 'x-code-required': code } = schema;
  if (message === undefined && code === undefined) return undefined;
  if (message === undefined || code === undefined) {
    throw new Error(`${where}: x-message-required and x-code-required come together`);
  }
  if (!isFixedCode(code)) throw new Error(`${where}: x-code-required is no code of the catalogue: ${code}`);
  return { code, message };
}
