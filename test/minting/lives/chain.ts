import { createHash } from 'node:crypto';
import { Transaction } from 'ethers';
import { type ContractState, callContract, intrinsicGas, type Log, type Outcome } from './contract.ts';

/* A chain in memory with one contract. Time comes from whoever makes its blocks. Addresses are in lower case. */

export type Sent = {
  readonly hash: string;
  readonly from: string;
  readonly nonce: number;
  readonly to: string;
  readonly data: string;
  readonly gasLimit: bigint;
  readonly maxFee: bigint;
  readonly tip: bigint;
};

export type Mined = {
  readonly sent: Sent;
  readonly isSuccess: boolean;
  readonly gasUsed: bigint;
  /** Paid for a unit of gas. */
  readonly price: bigint;
  readonly logs: readonly Log[];
};

export type ChainState = {
  readonly nonces: ReadonlyMap<string, number>;
  readonly balances: ReadonlyMap<string, bigint>;
  readonly contract: ContractState;
  /** Whether there is code at the address of the contract. */
  readonly hasCode: boolean;
  /** Whether it reverts in blocks whatever others than its admin send, though not in estimates. */
  readonly isReverting: boolean;
};

export type Block = {
  readonly number: number;
  readonly hash: string;
  readonly parent: string;
  /** In seconds. */
  readonly time: number;
  readonly baseFee: bigint;
  readonly mined: readonly Mined[];
  /** After it. */
  readonly state: ChainState;
};

/** What a node says to a transaction that it does not take. */
export class Refused extends Error {}

export type Chain = ReturnType<typeof createChain>;
type Fork = { readonly name: string; readonly without?: number };

export const blockGas = 30_000_000n;
/** Both fees of a replacement are higher by that much, in percent. */
const leastRaise = 10n;
const plenty = 10n ** 21n;

type Options = {
  readonly contract: string;
  readonly state: ContractState;
  /** Blocks above a final one. */
  readonly finality: number;
  /** Blocks that are there already. */
  readonly blocks?: readonly Block[];
  readonly name?: string;
};

/** @param options.name makes the hashes of its blocks differ from those of another chain */
export function createChain({ contract, state, finality, blocks: first = [], name = 'main' }: Options) {
  const genesis: ChainState = {
    nonces: new Map(),
    balances: new Map(),
    contract: state,
    hasCode: true,
    isReverting: false,
  };
  const blocks: Block[] = [...first];
  const byHash = new Map<string, number>();
  const pool = new Map<string, Sent>();
  let made = 0;
  let baseFee = 10n ** 9n;
  const fees = [baseFee];
  let changes: ((state: ChainState) => ChainState)[] = [];

  const head = (): Block => {
    const last = blocks.at(-1);
    if (last === undefined) throw new Error('the chain has no block');
    return last;
  };
  const index = (block: Block) => {
    for (const { sent } of block.mined) byHash.set(sent.hash, block.number);
  };
  const append = (mined: readonly Mined[], after: ChainState, time: number) => {
    made += 1;
    const parent = blocks.at(-1)?.hash ?? `0x${'00'.repeat(32)}`;
    const block: Block = {
      number: blocks.length,
      hash: hashOf(`${name} ${made} ${parent}`),
      parent,
      time: Math.max(time, (blocks.at(-1)?.time ?? 0) + 1),
      baseFee,
      mined,
      state: after,
    };
    blocks.push(block);
    index(block);
    for (const { sent } of mined) pool.delete(keyOf(sent));
  };
  for (const block of first) index(block);
  if (blocks.length === 0) append([], genesis, 0);

  const nonceOf = (from: string) => head().state.nonces.get(from) ?? 0;
  const balanceOf = (address: string, at = head()) => at.state.balances.get(address) ?? plenty;

  /**
   * Runs those of the pool that can run, each account in the order of its nonces.
   * @param isLeftOut says which of them wait for another block
   */
  const mine = (time: number, isLeftOut: (sent: Sent) => boolean = () => false): Block => {
    let after = head().state;
    for (const change of changes) after = change(after);
    changes = [];
    const mined: Mined[] = [];
    let left = blockGas;
    const waiting = [...pool.values()].sort((one, other) => one.nonce - other.nonce);
    for (const sent of waiting) {
      if (isLeftOut(sent)) continue;
      const isNext = sent.nonce === (after.nonces.get(sent.from) ?? 0);
      const price = priceOf(sent, baseFee);
      const cost = sent.gasLimit * sent.maxFee;
      const has = after.balances.get(sent.from) ?? plenty;
      if (!isNext || price === undefined || sent.gasLimit > left || cost > has) continue;
      const [result, next] = execute(after, sent, price, contract);
      mined.push(result);
      left -= result.gasUsed;
      after = next;
    }
    append(mined, after, time);
    // As geth does: what is used or cannot be paid leaves the pool.
    for (const [key, sent] of pool)
      if (sent.nonce < nonceOf(sent.from) || sent.gasLimit * sent.maxFee > balanceOf(sent.from))
        pool.delete(key);
    return head();
  };

  /** Takes a transaction into the pool. @throws Refused with the words of a node */
  const take = (sent: Sent): void => {
    if (pool.get(keyOf(sent))?.hash === sent.hash) throw new Refused('already known');
    if (sent.nonce < nonceOf(sent.from)) throw new Refused('nonce too low');
    if (sent.gasLimit < intrinsicGas(sent.data)) throw new Refused('intrinsic gas too low');
    if (sent.gasLimit > 16_777_216n) throw new Refused('exceeds block gas limit');
    if (sent.gasLimit * sent.maxFee > balanceOf(sent.from))
      throw new Refused('insufficient funds for gas * price + value');
    const before = pool.get(keyOf(sent));
    const enough = (fee: bigint, old: bigint) => fee * 100n >= old * (100n + leastRaise);
    if (before && !(enough(sent.maxFee, before.maxFee) && enough(sent.tip, before.tip)))
      throw new Refused('replacement transaction underpriced');
    pool.set(keyOf(sent), sent);
  };

  return {
    options: { contract, state, finality },
    contract,
    blocks: blocks as readonly Block[],
    pool: pool as ReadonlyMap<string, Sent>,
    head,
    mine,
    balanceOf,
    finalized: (): Block | undefined => blocks[head().number - finality],
    /** The transaction with this hash, and its block. */
    find(hash: string): { readonly block: Block; readonly mined: Mined; readonly index: number } | undefined {
      const block = blocks[byHash.get(hash) ?? -1];
      const place = block?.mined.findIndex(({ sent }) => sent.hash === hash) ?? -1;
      const mined = block?.mined[place];
      return block && mined && { block, mined, index: place };
    },
    waiting: (hash: string): Sent | undefined => [...pool.values()].find((sent) => sent.hash === hash),
    takeRaw(raw: string): string {
      const sent = readRaw(raw);
      take(sent);
      return sent.hash;
    },
    /** Takes a transaction of an account whose key the test does not need, with the next nonce or this one. */
    takeFrom(
      from: string,
      to: string,
      data: string,
      { nonce, maxFee = 200n * 10n ** 9n }: Unsigned = {},
    ): string {
      const pending = [...pool.values()].filter((sent) => sent.from === from).length;
      const at = nonce ?? nonceOf(from) + pending;
      const hash = hashOf(`${name} ${from} ${at} ${to} ${data} ${maxFee}`);
      take({ hash, from, nonce: at, to, data, gasLimit: 1_000_000n, maxFee, tip: maxFee / 2n });
      return hash;
    },
    /** Changes the state with the next block, as no transaction does. */
    change(how: (state: ChainState) => ChainState): void {
      changes.push(how);
    },
    setBaseFee(fee: bigint): void {
      baseFee = fee;
      fees.push(fee);
    },
    baseFee: () => baseFee,
    /** The base fees that the chain has had, in order. */
    fees: fees as readonly bigint[],
    /** Forgets every transaction that waits. */
    drop: () => pool.clear(),
    /** Lets this one wait in place of what has replaced it. */
    putBack: (sent: Sent) => void (pool.has(keyOf(sent)) && pool.set(keyOf(sent), sent)),
    /**
     * Replaces the newest blocks by as many others and a further one.
     * @param keeps whether their transactions wait again; otherwise nobody has them any more
     */
    reorganise(depth: number, time: number, keeps: boolean): void {
      const gone = blocks.splice(Math.max(1, blocks.length - depth));
      for (const { sent } of gone.flatMap(({ mined }) => mined)) {
        byHash.delete(sent.hash);
        if (keeps && !pool.has(keyOf(sent))) pool.set(keyOf(sent), sent);
      }
      for (let left = gone.length; left > 0; left -= 1) mine(time - left, () => true);
      mine(time);
    },
  };
}

/** Makes another chain that has the blocks of this one, but for some of the newest. */
export const forkOf = (chain: Chain, { name, without = 0 }: Fork): Chain =>
  createChain({ ...chain.options, blocks: chain.blocks.slice(0, chain.blocks.length - without), name });

type Unsigned = { readonly nonce?: number | undefined; readonly maxFee?: bigint };

const keyOf = ({ from, nonce }: Pick<Sent, 'from' | 'nonce'>) => `${from} ${nonce}`;

const hashOf = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`;

/** What a transaction pays in a block with this base fee; undefined when it is not enough. */
function priceOf({ maxFee, tip }: Sent, baseFee: bigint): bigint | undefined {
  if (maxFee < baseFee) return undefined;
  return baseFee + tip < maxFee ? baseFee + tip : maxFee;
}

function execute(before: ChainState, sent: Sent, price: bigint, contract: string): [Mined, ChainState] {
  const isCall = sent.to === contract && before.hasCode;
  const outcome = isCall ? outcomeOf(before, sent) : undefined;
  const needed = outcome?.gas ?? intrinsicGas(sent.data);
  const isSuccess = needed <= sent.gasLimit && (outcome === undefined || 'state' in outcome);
  const gasUsed = needed <= sent.gasLimit ? needed : sent.gasLimit;
  const logs = isSuccess && outcome !== undefined && 'logs' in outcome ? outcome.logs : [];
  const has = before.balances.get(sent.from) ?? plenty;
  return [
    { sent, isSuccess, gasUsed, price, logs },
    {
      ...before,
      nonces: new Map(before.nonces).set(sent.from, sent.nonce + 1),
      balances: new Map(before.balances).set(sent.from, has - gasUsed * price),
      contract: isSuccess && outcome !== undefined && 'state' in outcome ? outcome.state : before.contract,
    },
  ];
}

function outcomeOf({ contract, isReverting }: ChainState, { from, data }: Sent): Outcome {
  if (isReverting && from !== contract.admin) return { revert: '0x', gas: intrinsicGas(data) + 300n };
  return callContract(contract, from, data);
}

const read = new Map<string, Sent>();

/** Reads a signed transaction. Its sender takes milliseconds to find, so that it is kept, and whoever has it signed says who it is. */
export function readRaw(raw: string, signer?: string): Sent {
  const known = read.get(raw);
  if (known !== undefined) return known;
  const transaction = Transaction.from(raw);
  const from = signer ?? transaction.from;
  const { hash, nonce, to, data, gasLimit, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = transaction;
  if (hash === null || from === null || to === null) throw new Error('not a signed transaction');
  const maxFee = maxFeePerGas ?? gasPrice ?? 0n;
  const tip = maxPriorityFeePerGas ?? maxFee;
  const sent = { hash, from: from.toLowerCase(), nonce, to: to.toLowerCase(), data, gasLimit, maxFee, tip };
  if (read.size > 1_000) read.clear();
  read.set(raw, sent);
  return sent;
}
