import { catalogue, type ProblemCode } from '../../src/errors.ts';

type Node = Record<string, unknown>;
type Response = Node & { description: string; content?: Record<string, { examples?: Record<string, Node> }> };
type Document = Node & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses?: Record<string, Node> }>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly examples: Readonly<Record<string, Node>>;
  };
};

const isResponse = (node: Node): node is Response => !('$ref' in node);

function codesOf({ content }: Response, { components }: Document): ProblemCode[] {
  const examples = Object.values(content ?? {}).flatMap((media) => Object.values(media.examples ?? {}));
  const codes = examples.flatMap((example) => {
    const { $ref: reference } = example;
    const { value } =
      typeof reference === 'string'
        ? (components.examples[reference.split('/').at(-1) ?? ''] ?? {})
        : example;
    const code = value !== null && typeof value === 'object' && 'code' in value ? String(value.code) : '';
    return code in catalogue ? [code as ProblemCode] : []; // a key of the catalogue is its type
  });
  return [...new Set(codes)];
}

/** A bundle whose statuses lead to the pages of the errors that they may be, which only the reference shows. */
export function withProblems(bundle: Node): Node {
  const document = structuredClone(bundle) as Document; // a linted bundle
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const inline = operations.flatMap(({ responses }) => Object.values(responses ?? {})).filter(isResponse);
  for (const response of [...inline, ...Object.values(document.components.responses)]) {
    const codes = codesOf(response, document);
    if (codes.length === 0) continue;
    const links = codes.map((code) => `[\`${code}\`](problems/${code}.html)`);
    response.description += `\n\nWhat it means, and what to do: ${links.join(', ')}`;
  }
  return document;
}
