import { Transaction } from 'ethers';
import { type Answer, type Call, type Flaw, of, type Reply, resultOf } from './flaw.ts';
import { askNode } from './node.ts';

/** A URL that leads to another node: of an orphan, of another chain. */
export const leadsTo =
  (url: string): Flaw =>
  (call) =>
    askNode(url, call);

/** A node that confirms every transaction and sends it to nobody. */
export const swallowsBroadcasts: Flaw = of(['eth_sendRawTransaction'], async ({ params }) => ({
  result: Transaction.from(String(params[0])).hash,
}));

/** A node that confirms every transaction, shows it as one that waits, and sends it to nobody. */
export function keepsBroadcasts(): Flaw {
  const kept = new Map<unknown, object>();
  return ({ method, params: [first] }) => {
    if (method === 'eth_getTransactionByHash') {
      const result = kept.get(first);
      return result === undefined ? undefined : { result };
    }
    if (method !== 'eth_sendRawTransaction') return undefined;
    const { data, from, hash, nonce } = Transaction.from(String(first));
    kept.set(hash, { from, nonce: `0x${nonce.toString(16)}`, input: data });
    return { result: hash };
  };
}

/** A node that refuses every transaction in these words. */
export const refusesBroadcasts = (message: string, code = -32000): Flaw =>
  of(['eth_sendRawTransaction'], async () => ({ error: { code, message } }));

/**
 * A node whose receipts have other fields, such as `{ status: 'ok' }` or `{ logs: null }`.
 * @param hash the one transaction whose receipts are malformed; undefined for all
 */
export const malformedReceipts = (change: object, hash?: string): Flaw =>
  of(['eth_getTransactionReceipt', 'eth_getBlockReceipts'], async (call, pass) => {
    const reply = await pass(call);
    const isMeant = (receipt: object) =>
      hash === undefined || Reflect.get(receipt, 'transactionHash') === hash;
    const changed = (receipt: unknown) =>
      typeof receipt === 'object' && receipt !== null && isMeant(receipt)
        ? { ...receipt, ...change }
        : receipt;
    const found = resultOf(reply);
    if (found === undefined) return reply;
    return { result: Array.isArray(found) ? found.map(changed) : changed(found) };
  });

/** A node that takes this long for each answer. */
export const slow =
  (ms: number): Flaw =>
  async (call, pass) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return pass(call);
  };

/** A node that never answers: nothing at all, or not these methods. */
export const hangs = (...methods: string[]): Flaw =>
  methods.length === 0 ? () => 'hang' : of(methods, () => 'hang');

/** A node that answers nothing but errors: to everything, or to these methods. */
export function errs(error: Answer['error'], ...methods: string[]): Flaw {
  const flaw: Flaw = async () => ({ ...(error && { error }) });
  return methods.length === 0 ? flaw : of(methods, flaw);
}

/** A node that answers everything with this HTTP status, such as 429 or 503. */
export const status =
  (code: number): Flaw =>
  async () => ({ status: code });

/** A node that suggests this priority fee, in wei. */
export const suggestsTip = (wei: bigint): Flaw =>
  of(['eth_maxPriorityFeePerGas'], async () => ({ result: `0x${wei.toString(16)}` }));

/** Calls of contracts that have this in their parameters, in hex without `0x`, are answered in this way. */
export const callsWith = (hex: string, reply: Reply): Flaw =>
  of('eth_call', ({ params }) => (JSON.stringify(params).toLowerCase().includes(hex) ? reply : undefined));

type LogFilter = { readonly fromBlock?: string; readonly toBlock?: string; readonly topics?: unknown };

/** The filter of a question for logs; undefined for any other question. */
export function logFilterOf({ method, params }: Call): LogFilter | undefined {
  return method === 'eth_getLogs' ? (params[0] as LogFilter) : undefined; // as JSON-RPC has it
}

/** Whether a question names a token, by its id: in topics or in the data of a call. */
export function isAboutToken({ method, params }: Call, tokenId: string): boolean {
  const word = BigInt(tokenId).toString(16).padStart(64, '0');
  return (method === 'eth_getLogs' || method === 'eth_call') && JSON.stringify(params).includes(word);
}
