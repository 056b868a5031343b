import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

type BentCall = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };
export type BentAnswer = { result?: unknown; error?: { code: number; message: string }; status?: number };
/** What a node answers for good; undefined where the real node's answer stands. */
export type Bend = (
  call: BentCall,
  pass: (call: BentCall) => Promise<BentAnswer>,
) => Promise<BentAnswer | 'hang'> | undefined;

export type BentNode = {
  readonly url: string;
  /** Bends the answers from now on; undefined lets them stand. */
  bend(bend: Bend | undefined): void;
  /** Leads the URL to another node. */
  aim(target: string): void;
  /** The methods that were asked for since the last call of this function. */
  takeAsked(): string[];
  close(): Promise<void>;
};

/** Starts a proxy in front of a real node that is wrong for as long as it is told to be. */
export async function startBentNode(first: string): Promise<BentNode> {
  const state: { bend: Bend | undefined; target: string; asked: string[] } = {
    bend: undefined,
    target: first,
    asked: [],
  };
  const pass = async (call: BentCall): Promise<BentAnswer> => {
    const response = await fetch(state.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...call }),
    });
    return (await response.json()) as BentAnswer; // the real node's own
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const call: BentCall = JSON.parse(await text(request));
    state.asked.push(call.method);
    const answer = await (state.bend?.(call, pass) ?? pass(call));
    if (answer === 'hang') return;
    const { result, error, status = 200 } = answer;
    const body = JSON.stringify({ jsonrpc: '2.0', id: call.id, ...(error ? { error } : { result }) });
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    bend(bend) {
      state.bend = bend;
    },
    aim(target) {
      state.target = target;
    },
    takeAsked: () => state.asked.splice(0),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Swallows transactions: says that it took them. */
export const swallows: Bend = ({ method }) =>
  method === 'eth_sendRawTransaction' ? Promise.resolve({ result: `0x${'00'.repeat(32)}` }) : undefined;

/** Cannot say what is final. */
export const withoutFinalized =
  (answer: BentAnswer): Bend =>
  ({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? Promise.resolve(answer) : undefined;

/** Stands still at a block: it knows no later one, and nothing that is in it. */
export function standsAt(block: bigint): Bend {
  const at = `0x${block.toString(16)}`;
  const known = (value: unknown) => typeof value === 'string' && BigInt(value) <= block;
  return (call, pass) => {
    const { method, params } = call;
    const withBlock = (index: number) => {
      const [asked] = params.slice(index);
      const isTag = asked === 'latest' || asked === 'pending';
      if (!isTag && asked !== 'finalized' && !known(asked)) return Promise.resolve({ result: null });
      return isTag ? pass({ ...call, params: params.with(index, at) }) : undefined;
    };
    if (method === 'eth_blockNumber') return Promise.resolve({ result: at });
    if (method === 'eth_getBlockByNumber') {
      return params[0] === 'finalized'
        ? pass({ ...call, params: [`0x${(block - 2n).toString(16)}`, false] })
        : withBlock(0);
    }
    if (method === 'eth_getTransactionCount' || method === 'eth_call') return withBlock(1);
    if (method === 'eth_getTransactionReceipt') {
      return pass(call).then((answer) => {
        const receipt = answer.result as { blockNumber: string } | null; // as documented
        return receipt && known(receipt.blockNumber) ? answer : { result: null };
      });
    }
    return undefined;
  };
}
