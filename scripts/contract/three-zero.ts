type Node = { readonly [word: string]: unknown };

/** Words of a schema that mean the same in both versions. */
const sharedWords = new Set([
  'additionalProperties',
  'default',
  'deprecated',
  'description',
  'enum',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'pattern',
  'properties',
  'readOnly',
  'required',
  'title',
  'uniqueItems',
]);

const isNode = (value: unknown): value is Node =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const mapValues = (node: Node, change: (value: unknown) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(value)]));

/** `type: [x, 'null']` becomes `type: x` and `nullable: true`. */
function typeWords(type: unknown): Node {
  const types = [type].flat();
  const [only, ...others] = types.filter((name) => name !== 'null');
  if (typeof only !== 'string' || others.length > 0) {
    throw new Error(`OpenAPI 3.0 knows one type plus null, not ${JSON.stringify(type)}`);
  }
  return types.includes('null') ? { type: only, nullable: true } : { type: only };
}

function schemaWord(word: string, value: unknown): Node {
  if (word === 'type') return typeWords(value);
  if (word === 'properties' && isNode(value)) return { properties: mapValues(value, schema) };
  if (word === 'items' || word === 'additionalProperties') return { [word]: schema(value) };
  if (sharedWords.has(word) || word.startsWith('x-')) return { [word]: value };
  throw new Error(`OpenAPI 3.0 has no word for "${word}" of a schema`);
}

function schema(value: unknown): unknown {
  if (!isNode(value)) return value; // additionalProperties may be a boolean
  if ('$ref' in value) return { $ref: value['$ref'] };
  const words = Object.entries(value).map(([word, content]) => schemaWord(word, content));
  return Object.assign({}, ...words);
}

/** Everything outside schemas, which is written alike in both versions. Examples are data and stay. */
function part(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(part);
  if (!isNode(value)) return value;
  if ('$ref' in value) return { $ref: value['$ref'] };
  return Object.fromEntries(
    Object.entries(value).map(([word, content]) => {
      if (word === 'example' || word === 'examples') return [word, content];
      return [word, word === 'schema' ? schema(content) : part(content)];
    }),
  );
}

const hasDeleteBody = (method: string, operation: unknown) =>
  method === 'delete' && isNode(operation) && 'requestBody' in operation;

/** The operations that 3.0 cannot say: those whose DELETE has a body. */
export function operationsLeftOut({ paths }: Node): string[] {
  if (!isNode(paths)) return [];
  return Object.values(paths).flatMap((item) =>
    Object.entries(item ?? {}).flatMap(([method, operation]) =>
      hasDeleteBody(method, operation) ? [String(operation.operationId)] : [],
    ),
  );
}

function pathItem(item: unknown): unknown {
  if (!isNode(item)) return item;
  return part(Object.fromEntries(Object.entries(item).filter((entry) => !hasDeleteBody(...entry))));
}

function info({ summary, description, license, ...rest }: Node, leftOut: readonly string[]): Node {
  const { identifier, ...licence } = isNode(license) ? license : {};
  const missing = leftOut.map((id) => `\`${id}\``).join(', ');
  const notes = [
    'This is the OpenAPI 3.0.3 form of the document, made from the one in OpenAPI 3.1.',
    leftOut.length === 0 ? '' : `It lacks ${missing}, because 3.0 knows no body of DELETE.`,
  ];
  return {
    ...rest,
    description: [summary, notes.join(' ').trim(), description].join('\n\n'),
    license: { ...licence, url: `https://spdx.org/licenses/${identifier}.html` },
  };
}

function components(value: unknown): unknown {
  if (!isNode(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([kind, entries]) => {
      if (kind === 'examples' || !isNode(entries)) return [kind, entries];
      return [kind, mapValues(entries, kind === 'schemas' ? schema : part)];
    }),
  );
}

/**
 * The OpenAPI 3.0.3 form of a bundled 3.1 document. It says the same, without the operations that 3.0 cannot say
 * (`operationsLeftOut`) and without webhooks, which 3.0 does not know.
 * @throws Error when the document uses what 3.0 has no word for
 */
export function toThreeZero({ webhooks: _unknown, ...document }: Node): Node {
  const { paths } = document;
  const known = new Set(['openapi', 'info', 'servers', 'tags', 'security', 'paths', 'components']);
  const unknown = Object.keys(document).filter((word) => !known.has(word));
  if (unknown.length > 0) throw new Error(`OpenAPI 3.0 documents have no ${unknown.join(', ')}`);
  return withoutUnused({
    ...document,
    openapi: '3.0.3',
    info: info(isNode(document['info']) ? document['info'] : {}, operationsLeftOut(document)),
    paths: isNode(paths) ? mapValues(paths, pathItem) : paths,
    components: components(document['components']),
  });
}

/** The document without the schemas that only an operation used which was left out. */
function withoutUnused(document: Node): Node {
  const { components: all } = document;
  if (!isNode(all) || !isNode(all['schemas'])) return document;
  const text = JSON.stringify(document);
  const used = Object.entries(all['schemas']).filter(([name]) =>
    text.includes(`"#/components/schemas/${name}"`),
  );
  return { ...document, components: { ...all, schemas: Object.fromEntries(used) } };
}
