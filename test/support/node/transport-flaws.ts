import { gzipSync } from 'node:zlib';
import { type Bare, type Call, type Flaw, failure, of, type Pass } from './flaw.ts';
import type { TestNode } from './node.ts';

/* Flaws of what is between a caller and a node, and of a node as a whole. */

const body = (text: string): Bare => ({ status: 200, body: text });

// The correct chain id in an answer that exceeds the size limit of an eth_call or of a chain id.
function oversized({ id, method }: Call): string {
  const filler = ' '.repeat(1024 * 1024);
  return `{"id":${id},${filler}"result":"${method === 'eth_chainId' ? '0x7a69' : '0x01'}"}`;
}

export type Failure = keyof typeof failures;

/** The ways in which a node fails to answer any question. */
export const failures = {
  drop: () => 'drop',
  hang: () => 'hang',
  half: ({ id }) => ({
    status: 200,
    headers: { 'content-length': 1000 },
    body: `{"jsonrpc":"2.0","id":${id},`,
    isCut: true,
  }),
  html: () => body('<html>Welcome</html>'),
  'no json-rpc': ({ id }) => body(JSON.stringify({ id })),
  'wrong id': ({ id }) => body(JSON.stringify({ id: Number(id) + 1, result: '0x7a69' })),
  'status 500': () => ({ status: 500 }),
  'status 429': () => ({ status: 429 }),
  'status 401': () => ({ status: 401 }),
  'rate limit': () => failure(-32005, 'Too many requests'),
  'no state': ({ method }) =>
    method === 'eth_chainId' ? { result: '0x7a69' } : failure(-32000, 'header not found'),
  redirect: () => ({ status: 307, headers: { location: '/elsewhere' } }),
  oversized: (call) => body(oversized(call)),
  'gzip bomb': (call) => ({
    status: 200,
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(oversized(call)),
  }),
  'wrong chain': () => ({ result: '0x1' }),
} as const satisfies Record<string, Flaw>;

/** Delays the answers of a node to this method. @returns what ends the delay, with all flaws of the node */
export function delay(node: Pick<TestNode, 'setFlaws'>, method: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  node.setFlaws(of(method, () => promise.then(() => undefined)));
  return () => {
    node.setFlaws();
    resolve();
  };
}

/** The source of a node of this chain that answers nothing else. */
export const bareChain =
  (chainId: bigint): Pass =>
  async ({ method }) =>
    method === 'eth_chainId' ? { result: `0x${chainId.toString(16)}` } : 'drop';

/** A node that gives this reply to everything but the question for its chain. */
export const says =
  (reply: ReturnType<Flaw>): Flaw =>
  ({ method }) =>
    method === 'eth_chainId' ? undefined : reply;
