import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export type NodeCall = {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
};

export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
  | 'hang';

/** What a node answers for good in place of the real one; undefined where the real answer stands. */
export type Rule = (
  call: NodeCall,
  real: () => Promise<{ result?: unknown }>,
) => NodeAnswer | Promise<NodeAnswer> | undefined;

export type RefusingNode = {
  readonly url: string;
  /** Every call since the last {@link forget}, in order. */
  readonly asked: readonly NodeCall[];
  /** Every call since the last {@link forget} that a rule has answered. */
  readonly refused: readonly NodeCall[];
  /** Sets the rules in place of earlier ones; without any the node is sound. */
  follow(...rules: readonly Rule[]): void;
  forget(): void;
  close(): Promise<void>;
};

/** Starts a proxy in front of a real node that answers some questions by rules of its own, until told otherwise. */
export async function startRefusingNode(target: string): Promise<RefusingNode> {
  const asked: NodeCall[] = [];
  const refused: NodeCall[] = [];
  let rules: readonly Rule[] = [];

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const call: NodeCall = JSON.parse(body);
    asked.push(call);
    const real = async (): Promise<{ result?: unknown }> => {
      const headers = { 'content-type': 'application/json' };
      const answered = await fetch(target, { method: 'POST', headers, body });
      return (await answered.json()) as { result?: unknown }; // the real node's own
    };
    const own = rules.map((rule) => rule(call, real)).find((answer) => answer !== undefined);
    if (own !== undefined) refused.push(call);
    const answer = await (own ?? real());
    if (answer === 'hang') return;
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', ...answer, id: call.id }));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    asked,
    refused,
    follow(...next) {
      rules = next;
    },
    forget() {
      asked.length = 0;
      refused.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type LogFilter = { readonly fromBlock?: string; readonly toBlock?: string; readonly topics?: unknown };

/** The filter of a question for logs; undefined for any other question. */
export function logFilterOf({ method, params }: NodeCall): LogFilter | undefined {
  return method === 'eth_getLogs' ? (params[0] as LogFilter) : undefined; // as JSON-RPC has it
}

/** Whether a question names a token, by its id: in topics or in the data of a call. */
export function isAboutToken({ method, params }: NodeCall, tokenId: string): boolean {
  const word = BigInt(tokenId).toString(16).padStart(64, '0');
  return (method === 'eth_getLogs' || method === 'eth_call') && JSON.stringify(params).includes(word);
}

/** Calls of contracts that have this in their parameters, in hex without `0x`, are answered in this way. */
export const callsWith =
  (hex: string, answer: NodeAnswer): Rule =>
  ({ method, params }) =>
    method === 'eth_call' && JSON.stringify(params).toLowerCase().includes(hex) ? answer : undefined;

export const nodeError = (code: number, message: string): NodeAnswer => ({ error: { code, message } });
