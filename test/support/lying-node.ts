import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type Answer,
  type Call,
  type Flaw,
  type Pass,
  type Reply,
  resultOf,
  withFlaws,
} from './flaws/flaw.ts';
import { type MarketRecord, recordMarket } from './flaws/market-record.ts';
import { countQuestions, type Questions } from './flaws/questions.ts';
import { askNode } from './flaws/wrongs.ts';

/** One way in which a node lies or fails. */
export type Lie =
  /** Accepts a transaction and closes the connection without an answer. */
  | 'takes and drops'
  /** Accepts a transaction and never answers. */
  | 'takes and hangs'
  /** Confirms that it accepted a transaction, and drops it. */
  | 'forgets'
  /** Closes the connection before it forwards the transaction. */
  | 'drops'
  /** Reports too few transactions of an account. */
  | 'lagging nonce'
  /** Reports no receipts of mined transactions. */
  | 'lagging receipts'
  /** Fails to look up receipts. */
  | 'receipt errors'
  /** Reports no events. */
  | 'no logs'
  /** Reports an old block as the newest. */
  | 'lagging head'
  /** Is on another chain: its receipts name unknown blocks, and it has no mints. */
  | 'other chain'
  /** Reports another contract in its receipts. */
  | 'strange receipts'
  /** Answers alternately as itself and as a node that lags in everything. */
  | 'lags now and then'
  /** Answers every request with an error. */
  | 'errors'
  /** Accepts every request and never answers. */
  | 'hangs'
  /** Closes every connection without an answer. */
  | 'down';

export const lies: readonly Lie[] = [
  'takes and drops',
  'takes and hangs',
  'forgets',
  'drops',
  'lagging nonce',
  'lagging receipts',
  'receipt errors',
  'no logs',
  'lagging head',
  'other chain',
  'strange receipts',
  'lags now and then',
  'errors',
  'hangs',
  'down',
];

export type LyingNode = {
  readonly url: string;
  /** Starts a lie that ends the one before; undefined ends it. */
  lie(lie: Lie | undefined): void;
  /** Gives it these flaws for good, in place of those that it had; the first is nearest to the caller. */
  setFlaws(...flaws: readonly Flaw[]): void;
  readonly questions: Questions;
  /** What it has said of prices. */
  readonly market: MarketRecord;
  /** The number of answers that the current lie has changed. */
  readonly told: () => number;
  /** All signed transactions that it has received, whether it forwarded them or not. */
  readonly given: () => readonly string[];
  close(): Promise<void>;
};

/** Starts a proxy in front of a real node that lies on demand, and has flaws for good. */
export async function startLyingNode(target: string, ...flaws: readonly Flaw[]): Promise<LyingNode> {
  const state = { lie: undefined as Lie | undefined, told: 0, asked: 0, flaws };
  const given: string[] = [];
  const questions = countQuestions();
  const market = recordMarket();
  const real: Pass = async (call) => {
    const answer = await askNode(target, call);
    questions.saw(call, answer.result);
    return answer;
  };

  const answerTo = async (call: Call): Promise<Reply> => {
    state.asked += 1;
    questions.asked(call);
    if (call.method === 'eth_sendRawTransaction') given.push(String(call.params[0]));
    const flawed = withFlaws(state.flaws, real);
    const lie = state.lie === undefined ? undefined : liars[state.lie](call, flawed, state.asked);
    if (lie !== undefined) state.told += 1;
    const reply = await (lie ?? flawed(call));
    market.told(call, resultOf(reply));
    return reply;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body: Call | Call[] = JSON.parse(await text(request));
    const isBatch = Array.isArray(body);
    const calls = isBatch ? body : [body];
    const replies = await Promise.all(calls.map(answerTo));
    const bare = replies.find((reply) => typeof reply === 'string' || 'status' in reply);
    if (bare === 'drop') request.socket.destroy();
    else if (typeof bare === 'object' && 'status' in bare) response.writeHead(bare.status).end('{}');
    else if (bare === undefined) {
      const answers = replies.map((reply, index) => toJsonRpc(calls[index]?.id, reply as Answer)); // no other is left
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isBatch ? answers : answers[0]));
    }
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    lie(lie) {
      state.lie = lie;
      state.told = 0;
    },
    setFlaws(...changed) {
      state.flaws = changed;
    },
    questions,
    market,
    told: () => state.told,
    given: () => given,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const toJsonRpc = (id: unknown, { result, error }: Answer) => ({
  jsonrpc: '2.0',
  id,
  ...(error ? { error } : { result: result ?? null }),
});

/** The false answer; undefined where the real answer stands. */
type Liar = (call: Call, pass: Pass, asked: number) => Promise<Reply> | undefined;

const about =
  (method: string, lie: (call: Call, pass: Pass) => Promise<Reply>): Liar =>
  (call, pass) =>
    call.method === method ? lie(call, pass) : undefined;

/** Answers the request for the chain id as the real node does, and every other request in this way. */
const only =
  (end: () => Promise<Reply>): Liar =>
  ({ method }) =>
    method === 'eth_chainId' ? undefined : end();

const fewerTransactions = about('eth_getTransactionCount', async (call, pass) => {
  const count = BigInt(String(resultOf(await pass(call))));
  return { result: `0x${(count > 2n ? count - 2n : 0n).toString(16)}` };
});
const noReceipts = about('eth_getTransactionReceipt', async () => ({ result: null }));
const noLogs = about('eth_getLogs', async () => ({ result: [] }));
const oldHead: Liar = (call, pass) => {
  if (call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'latest') return undefined;
  const lag = async (): Promise<Reply> => {
    const number = BigInt(String(resultOf(await pass({ ...call, method: 'eth_blockNumber', params: [] }))));
    const old = `0x${(number > 3n ? number - 3n : 0n).toString(16)}`;
    return pass({ ...call, params: [old, ...call.params.slice(1)] });
  };
  return lag();
};
const changedReceipts = (change: object): Liar =>
  about('eth_getTransactionReceipt', async (call, pass) => {
    const result = resultOf(await pass(call));
    return { result: typeof result === 'object' && result !== null ? { ...result, ...change } : null };
  });
const noSuchToken: Answer = { error: { code: 3, message: 'execution reverted' } };
const lagging = [fewerTransactions, noReceipts, noLogs, oldHead];

const liars: Readonly<Record<Lie, Liar>> = {
  'takes and drops': about('eth_sendRawTransaction', async (call, pass) => {
    await pass(call);
    return 'drop';
  }),
  'takes and hangs': about('eth_sendRawTransaction', async (call, pass) => {
    await pass(call);
    return 'hang';
  }),
  forgets: about('eth_sendRawTransaction', async () => ({ result: `0x${'00'.repeat(32)}` })),
  drops: about('eth_sendRawTransaction', async () => 'drop'),
  'lagging nonce': fewerTransactions,
  'lagging receipts': noReceipts,
  'receipt errors': about('eth_getTransactionReceipt', async () => ({
    error: { code: -32000, message: 'leveldb: closed' },
  })),
  'no logs': noLogs,
  'lagging head': oldHead,
  'other chain': (call, pass, asked) => {
    if (call.method === 'eth_call') return Promise.resolve(noSuchToken);
    return (
      noLogs(call, pass, asked) ?? changedReceipts({ blockHash: `0x${'ab'.repeat(32)}` })(call, pass, asked)
    );
  },
  'strange receipts': changedReceipts({ to: `0x${'cd'.repeat(20)}` }),
  'lags now and then': (call, pass, asked) => {
    if (asked % 2 === 0) return undefined;
    for (const lag of lagging) {
      const lie = lag(call, pass, asked);
      if (lie !== undefined) return lie;
    }
    return undefined;
  },
  errors: only(async () => ({ error: { code: -32603, message: 'Internal error' } })),
  hangs: only(async () => 'hang'),
  down: only(async () => 'drop'),
};
