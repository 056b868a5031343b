import { type Answer, type Call, type Flaw, failure, of, type Pass, resultOf } from './flaw.ts';
import { says } from './transport-flaws.ts';

/* Ways in which a node deceives or fails for a time. */

const broadcast = (flaw: Flaw) => of('eth_sendRawTransaction', flaw);

const fewerTransactions = of('eth_getTransactionCount', async (call, pass) => {
  const count = BigInt(String(resultOf(await pass(call))));
  return { result: `0x${(count > 2n ? count - 2n : 0n).toString(16)}` };
});
const noReceipts = of('eth_getTransactionReceipt', () => ({ result: null }));
const noLogs = of('eth_getLogs', () => ({ result: [] }));
const oldHead: Flaw = (call, pass) =>
  call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest'
    ? blockThreeBack(call, pass)
    : undefined;
async function blockThreeBack(call: Call, pass: Pass) {
  const number = BigInt(String(resultOf(await pass({ method: 'eth_blockNumber', params: [] }))));
  return pass({
    ...call,
    params: [`0x${(number > 3n ? number - 3n : 0n).toString(16)}`, ...call.params.slice(1)],
  });
}
const changedReceipts = (change: object) =>
  of('eth_getTransactionReceipt', async (call, pass) => {
    const result = resultOf(await pass(call));
    return { result: typeof result === 'object' && result !== null ? { ...result, ...change } : null };
  });
const noSuchToken: Answer = failure(3, 'execution reverted');

/** The first of these flaws that answers. */
const either =
  (...flaws: readonly Flaw[]): Flaw =>
  (call, pass) => {
    for (const flaw of flaws) {
      const reply = flaw(call, pass);
      if (reply !== undefined) return reply;
    }
    return undefined;
  };

let turn = 0;
const nowAndThen: Flaw = (call, pass) => {
  turn += 1;
  return turn % 3 === 0 ? undefined : lagsInAll(call, pass);
};
const lagsInAll = either(fewerTransactions, noReceipts, noLogs, oldHead);

export type Lie = keyof typeof lies;

export const lies = {
  /** Accepts a transaction and closes the connection without an answer. */
  'takes and drops': broadcast(async (call, pass) => {
    await pass(call);
    return 'drop' as const;
  }),
  /** Accepts a transaction and never answers. */
  'takes and hangs': broadcast(async (call, pass) => {
    await pass(call);
    return 'hang' as const;
  }),
  /** Confirms that it accepted a transaction, and drops it. */
  forgets: broadcast(() => ({ result: `0x${'00'.repeat(32)}` })),
  /** Closes the connection before it forwards the transaction. */
  drops: broadcast(() => 'drop'),
  /** Reports too few transactions of an account. */
  'lagging nonce': fewerTransactions,
  /** Reports no receipts of mined transactions. */
  'lagging receipts': noReceipts,
  /** Fails to look up receipts. */
  'receipt errors': of('eth_getTransactionReceipt', () => failure(-32000, 'leveldb: closed')),
  /** Reports no events. */
  'no logs': noLogs,
  /** Reports an old block as the newest. */
  'lagging head': oldHead,
  /** Is on another chain: its receipts name unknown blocks, and it has no mints. */
  'other chain': either(
    of('eth_call', () => noSuchToken),
    noLogs,
    changedReceipts({ blockHash: `0x${'ab'.repeat(32)}` }),
  ),
  /** Reports another contract in its receipts. */
  'strange receipts': changedReceipts({ to: `0x${'cd'.repeat(20)}` }),
  /** Answers two of three questions as a node that lags in everything; a poll need not have an odd number of them. */
  'lags now and then': nowAndThen,
  /** Answers every request with an error. */
  errors: says(failure(-32603, 'Internal error')),
  /** Accepts every request and never answers. */
  hangs: says('hang'),
  /** Closes every connection without an answer. */
  down: says('drop'),
} as const satisfies Record<string, Flaw>;

export const lieNames = Object.keys(lies) as Lie[]; // those of the literal
