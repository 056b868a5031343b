import { Transaction } from 'ethers';
import { type Answer, type Flaw, of, resultOf } from './flaw.ts';

const headers = { 'content-type': 'application/json' };

/** Puts a question to the node with this URL. */
export async function askNode(url: string, call: { method: string; params: readonly unknown[] }) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
  const response = await fetch(url, { method: 'POST', headers, body });
  return (await response.json()) as Answer; // a real node's own
}

/** A URL that leads to another node: of an orphan, of another chain. */
export const leadsTo =
  (url: string): Flaw =>
  ({ method, params }) =>
    askNode(url, { method, params });

/** A node that confirms every transaction and sends it to nobody. */
export const swallowsBroadcasts: Flaw = of(['eth_sendRawTransaction'], async ({ params }) => ({
  result: Transaction.from(String(params[0])).hash,
}));

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
  methods.length === 0 ? async () => 'hang' : of(methods, async () => 'hang');

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
