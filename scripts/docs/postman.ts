import { convertV2 } from 'openapi-to-postmanv2';
import { placeholders } from '../../src/http/mounts/deployment.ts';
import type { AreaContract } from './contract.ts';

type Node = Readonly<Record<string, unknown>>;

/** A document as a deployment publishes it, with what the portal knows of it. */
export type PublishedDocument = { readonly own: AreaContract; readonly document: Node };

const options = {
  folderStrategy: 'Tags',
  // What works as it stands: the examples of the documents, and nothing that need not be sent.
  parametersResolution: 'Example',
  enableOptionalParameters: false,
  includeDeprecated: false,
} as const;

/**
 * A Postman collection (2.1) of all documents: a folder for each, and in it one for each tag. The address of the service
 * and the API key are its variables. The same documents give the same text.
 */
export async function postmanCollection(documents: readonly PublishedDocument[]): Promise<string> {
  const folders: Node[] = [];
  // One after the other: the converter is busy for as long as it takes.
  for (const { own, document } of documents) {
    const { item } = await convert(document);
    folders.push({ name: own.title, description: own.summary, item: toItems(item, own) });
  }
  const variable = [
    { key: 'baseUrl', value: placeholders.baseUrl },
    { key: 'apiKey', value: '', description: 'Your API key. Keep it in a Postman vault or environment.' },
  ];
  const collection = {
    info: {
      _postman_id: '7f0c9a52-6c0e-4a57-9d5b-1f5d6f0f6a10',
      name: `${placeholders.operator} API`,
      description: `The operations of ${placeholders.baseUrl}. Set the variable apiKey first.`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: apiKeyAuth,
    variable,
    item: folders,
  };
  return `${JSON.stringify(collection, null, 1)}\n`;
}

const setting = (key: string, value: string) => ({ key, value, type: 'string' });
const apiKeyAuth = {
  type: 'apikey',
  apikey: [setting('key', 'x-api-key'), setting('value', '{{apiKey}}'), setting('in', 'header')],
};

async function convert(document: Node): Promise<Node> {
  const { promise, resolve, reject } = Promise.withResolvers<Node>();
  convertV2({ type: 'string', data: JSON.stringify(document) }, options, (error, converted) => {
    const [made] = converted?.output ?? [];
    if (made?.type === 'collection') resolve(made.data as unknown as Node);
    else reject(new Error(`No Postman collection: ${error?.message ?? converted?.reason}`, { cause: error }));
  });
  return promise;
}

/** What the converter made, as far as it is read here. */
type Item = { readonly name: string; readonly item?: readonly Item[]; readonly request?: Request };
type Request = Node & {
  readonly method: string;
  readonly url: Node & { readonly path: readonly string[] };
  readonly header: readonly (Node & { readonly key: string })[];
};

/** Folders and requests without what the converter draws by chance, and without its answers, which the reference has. */
function toItems(made: unknown, own: AreaContract): Node[] {
  return (made as readonly Item[]).map(({ name, item, request }) => ({
    name,
    ...(item !== undefined && { item: toItems(item, own) }),
    ...(request !== undefined && { request: toRequest(request, own) }),
  }));
}

function toRequest({ auth: _auth, url, header, ...request }: Request, own: AreaContract): Node {
  const path = `/${url.path.join('/').replaceAll(/:(\w+)/g, '{$1}')}`;
  const operation = own.operations.find((each) => each.method === request.method && each.path === path);
  return {
    ...request,
    ...(operation?.security?.length === 0 && { auth: { type: 'noauth' } }),
    // All documents share one variable for the address.
    url: { ...url, path: [...own.basePath.split('/').slice(1), ...url.path] },
    // Each request gets a key of its own, as the header's description wants it.
    header: header.map((each) =>
      each.key === 'Idempotency-Key' ? { ...each, value: '{{$guid}}', disabled: false } : each,
    ),
  };
}
