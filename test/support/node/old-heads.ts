import {
  askQuantity,
  askTag,
  type Call,
  type Flaw,
  failure,
  fieldOf,
  hexOf,
  type Pass,
  quantityOf,
  type Reply,
  resultOf,
} from './flaw.ts';

type Past = { readonly head: bigint; readonly finalized: bigint | undefined };

/**
 * A node that answers everything as of this head. It takes broadcasts and knows what is pending, as a node does that
 * still hears of transactions but not of blocks.
 * @param past the head, and the finalized block of that time; see {@link pastOf}
 */
export const standsStill = (past: Past): Flaw => asOf(async () => past);

/** The present state of a chain, for a node that stands still from now on. */
export async function pastOf(call: <T>(method: string, ...params: unknown[]) => Promise<T>): Promise<Past> {
  const numberOf = async (tag: string) =>
    quantityOf(fieldOf(await call('eth_getBlockByNumber', tag, false), 'number'));
  return { head: (await numberOf('latest')) ?? 0n, finalized: await numberOf('finalized') };
}

/** A node that is always this many blocks behind. */
export const lagsBy = (blocks: bigint): Flaw =>
  asOf(async (pass) => {
    const back = (number: bigint) => (number > blocks ? number - blocks : 0n);
    const finalized = await askTag(pass, 'finalized');
    return {
      head: back(await askQuantity(pass, 'eth_blockNumber')),
      finalized: finalized === undefined ? undefined : back(finalized),
    };
  });

// The position of the parameter that names the block whose state is asked for.
const stateOf: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
};

/** What names its block in the answer, and is unknown to a node that has not seen that block. */
const ofABlock: Readonly<Record<string, string>> = {
  eth_getBlockByHash: 'number',
  eth_getTransactionReceipt: 'blockNumber',
  eth_getTransactionByHash: 'blockNumber',
};

function asOf(look: (pass: Pass) => Promise<Past>): Flaw {
  return async (call, pass) => {
    const { method } = call;
    const known = ofABlock[method];
    if (known !== undefined) {
      const reply = await pass(call);
      const number = quantityOf(fieldOf(resultOf(reply), known));
      return number !== undefined && number > (await look(pass)).head ? { result: null } : reply;
    }
    if (method === 'eth_blockNumber') return { result: hexOf((await look(pass)).head) };
    if (method === 'eth_getBlockByNumber' || method === 'eth_getBlockReceipts') {
      return blockAt(call, pass, await look(pass));
    }
    if (method === 'eth_getLogs') return logsUpTo(call, pass, (await look(pass)).head);
    const place = stateOf[method];
    return place === undefined ? pass(call) : stateAt(call, pass, { place, head: (await look(pass)).head });
  };
}

async function blockAt(call: Call, pass: Pass, { head, finalized }: Past): Promise<Reply> {
  const [tag, ...rest] = call.params;
  const at = (number: bigint) => pass({ ...call, params: [hexOf(number), ...rest] });
  if (tag === 'latest' || tag === 'pending') return at(head);
  if (tag === 'finalized' || tag === 'safe') {
    return finalized === undefined ? failure(-39001, 'finalized block not found') : at(finalized);
  }
  const number = quantityOf(tag);
  if (number !== undefined) return number > head ? { result: null } : pass(call);
  const reply = await pass(call); // by hash
  const [first] = Array.isArray(resultOf(reply)) ? (resultOf(reply) as unknown[]) : [];
  return (quantityOf(fieldOf(first, 'blockNumber')) ?? 0n) > head ? { result: null } : reply;
}

async function logsUpTo(call: Call, pass: Pass, head: bigint): Promise<Reply> {
  const [filter] = call.params;
  if (fieldOf(filter, 'blockHash') !== undefined) {
    const reply = await pass(call);
    const logs = resultOf(reply);
    const [first]: unknown[] = Array.isArray(logs) ? logs : [];
    return (quantityOf(fieldOf(first, 'blockNumber')) ?? 0n) > head
      ? failure(-32000, 'unknown block')
      : reply;
  }
  const from = quantityOf(fieldOf(filter, 'fromBlock')) ?? head;
  const to = quantityOf(fieldOf(filter, 'toBlock')) ?? head;
  if (from > head) return { result: [] };
  const range = { fromBlock: hexOf(from), toBlock: hexOf(to < head ? to : head) };
  return pass({ ...call, params: [{ ...Object(filter), ...range }] });
}

function stateAt(call: Call, pass: Pass, { place, head }: { place: number; head: bigint }): Promise<Reply> {
  const block = call.params[place] ?? 'latest';
  // What is pending it hears of, in blocks that it does not see.
  if (block === 'pending' && call.method === 'eth_getTransactionCount') return pass(call);
  const number = quantityOf(block);
  if (number !== undefined && number > head) return Promise.resolve(failure(-32000, 'header not found'));
  if (number !== undefined || (typeof block === 'object' && block !== null)) return pass(call);
  const params = [...call.params];
  params[place] = hexOf(head);
  return pass({ ...call, params });
}
