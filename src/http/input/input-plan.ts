import type { OperationObject, ParameterObject, SchemaObject } from '../../contract/documents.ts';

export type ParameterPlan = {
  readonly in: 'path' | 'query' | 'header';
  /** As the document writes it; what handlers and callers see. */
  readonly name: string;
  /** As the request carries it: header names are in lower case there. */
  readonly key: string;
  /** What the text of the parameter is turned into before it is validated. */
  readonly as: 'integer' | 'number' | 'boolean' | 'text';
  readonly requiredMessage: string | undefined;
};

type BodyPlan = {
  readonly required: boolean;
  /** The top-level fields in the document's order. */
  readonly fields: readonly string[];
  readonly requiredFields: readonly string[];
  readonly readOnlyFields: ReadonlySet<string>;
  readonly requiredMessages: ReadonlyMap<string, string>;
};

/** What an operation takes, read from the document once. */
export type InputPlan = {
  readonly parameters: readonly ParameterPlan[];
  readonly body: BodyPlan | undefined;
};

/**
 * @param operation resolved: without references
 * @throws Error when the document asks for something that is not validated to the letter
 */
export function planInput(operationId: string, { parameters = [], requestBody }: OperationObject): InputPlan {
  const content = requestBody?.content['application/json'];
  if (requestBody !== undefined && content === undefined) {
    throw new Error(`${operationId}: only application/json bodies are read`);
  }
  return {
    parameters: parameters.map((parameter) => planParameter(operationId, parameter)),
    body: content && planBody(content.schema ?? {}, requestBody?.required ?? false),
  };
}

function planParameter(operationId: string, parameter: ParameterObject): ParameterPlan {
  if (parameter.in === 'cookie') throw new Error(`${operationId}: cookie parameters are not read`);
  const schema = parameter.schema ?? {};
  const isHeader = parameter.in === 'header';
  const as = targetOf(schema, `${operationId}: parameter ${parameter.name}`);
  if (isHeader && as !== 'text') throw new Error(`${operationId}: header ${parameter.name} must be a string`);
  return {
    in: parameter.in,
    name: parameter.name,
    key: isHeader ? parameter.name.toLowerCase() : parameter.name,
    as,
    requiredMessage: schema['x-message-required'],
  };
}

function targetOf({ type = 'string' }: SchemaObject, where: string): ParameterPlan['as'] {
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number' || type === 'boolean') return type;
  throw new Error(`${where} must be a string, an integer, a number or a boolean`);
}

function planBody(schema: SchemaObject, required: boolean): BodyPlan {
  const fields = Object.entries(schema.properties ?? {});
  const messages = fields.flatMap(([name, field]): [string, string][] => {
    const message = field['x-message-required'];
    return message === undefined ? [] : [[name, message]];
  });
  return {
    required,
    fields: fields.map(([name]) => name),
    requiredFields: schema.required ?? [],
    readOnlyFields: new Set(fields.filter(([, field]) => field.readOnly).map(([name]) => name)),
    requiredMessages: new Map(messages),
  };
}
