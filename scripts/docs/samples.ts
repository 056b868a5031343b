import type { AreaContract, Operation } from './contract.ts';

/** A call as a reader would type it, with the documented answer. */
export type Sample = { readonly request: string; readonly status: string; readonly answer: unknown };

type ParameterLike = {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly example?: unknown;
};

function firstExample(content: Operation['responses'][string]['content']): unknown {
  const [media] = Object.values(content ?? {});
  const [example] = Object.values(media?.examples ?? {});
  return example?.value;
}

function queryOf(operation: Operation & { parameters?: readonly ParameterLike[] }): string[] {
  const needed = (operation.parameters ?? []).filter(
    (parameter) => parameter.in === 'query' && parameter.required,
  );
  return needed.map(({ name, example }) => `-d ${name}=${encodeURIComponent(String(example))}`);
}

/**
 * The call of an operation, made from its documented examples, so that it cannot differ from them. Uses the
 * shell variables that the start page sets. Fails when the operation or an example is gone.
 */
export function sampleOf(contract: readonly AreaContract[], operationId: string): Sample {
  for (const { basePath, operations } of contract) {
    const operation = operations.find((candidate) => candidate.operationId === operationId);
    if (operation === undefined) continue;
    const body = firstExample(operation.requestBody?.content);
    const [status = '', response] = Object.entries(operation.responses).find(([code]) => code < '300') ?? [];
    const answer = firstExample(response?.content);
    if (answer === undefined) throw new Error(`${operationId} has no example of its success`);
    const query = queryOf(operation);
    const lines = [
      `curl ${query.length > 0 ? '-G ' : ''}"$TALLYSTICK${basePath}${operation.path}"`,
      '-H "x-api-key: $TALLYSTICK_KEY"',
      ...query,
      ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`]),
    ];
    return { request: lines.join(' \\\n  '), status, answer };
  }
  throw new Error(`No document has an operation ${operationId}`);
}
