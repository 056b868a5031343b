import { placeholders } from '../../src/http/mounts/deployment.ts';

type Node = Readonly<Record<string, unknown>>;

// Where `npm start` answers, from which the examples come.
const sampleHost = 'http://localhost:3000';

/** The text of a document whose examples say where the service is. */
export const sayingWhere = (text: string): string => text.replaceAll(sampleHost, placeholders.baseUrl);

/** A document as a deployment publishes it: its only server, its contact and the addresses in examples are its own. */
export function deployed(bundle: Node, basePath: string): Record<string, unknown> {
  const text = sayingWhere(JSON.stringify(bundle));
  const { info, ...document }: Node & { info: Node } = JSON.parse(text);
  const contact = { name: `${placeholders.operator} support`, url: placeholders.supportUrl };
  const server = { url: `${placeholders.baseUrl}${basePath}`, description: 'This service' };
  const { openapi, ...rest } = document;
  return { openapi, info: { ...info, contact }, ...rest, servers: [server] };
}
