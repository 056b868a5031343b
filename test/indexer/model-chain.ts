import { id } from 'ethers';
import { zeroAddress } from '../../src/chain/address.ts';
import type { BlockSource } from '../../src/providers/indexer/decode/decode-block.ts';
import type { RawLog } from '../../src/providers/indexer/decode/raw-block.ts';
import { topics } from '../../src/providers/indexer/decode/topics.ts';
import type { NodeBlocks } from '../../src/providers/indexer/follow/node-blocks.ts';
import { topicOf, word } from './raw-answers.ts';

/** A chain so simple that what is in it needs no decoder: the model that the index is held to. */

export const wallets = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`);
const collection = `0x${'7'.repeat(40)}`;
const pieces = `0x${'8'.repeat(40)}`;

export type Move = {
  readonly kind: 'call' | 'erc721' | 'erc1155';
  /** Indexes of wallets; -1 is the zero address. */
  readonly sender: number;
  readonly from: number;
  readonly to: number;
  readonly tokenId: number;
  readonly amount: number;
};
type ModelBlock = {
  readonly number: bigint;
  readonly hash: string;
  readonly parentHash: string;
  readonly moves: readonly Move[];
};

/** Depth below the head at which a block is final. */
const finality = 8;

export type ModelChain = ReturnType<typeof createModelChain>;

export function createModelChain() {
  const blocks: ModelBlock[] = [];
  let made = 0;
  let longest = 0;

  const mine = (moves: readonly Move[]) => {
    made += 1;
    const parentHash = blocks.at(-1)?.hash ?? id('genesis');
    const [number, hash] = [BigInt(blocks.length), id(`block ${made}`)];
    blocks.push({ number, hash, parentHash, moves: byOwners(moves, blocks) });
    longest = Math.max(longest, blocks.length);
  };

  return {
    mine,
    length: () => blocks.length,
    /** Takes the newest blocks away, but none that was final in any branch. */
    cut(depth: number) {
      blocks.length = Math.max(1, longest - finality, blocks.length - depth);
    },
    node: nodeOver(blocks),
    /** Places of the transactions that name a wallet, in the order of the chain. */
    history: (wallet: string) =>
      blocks.flatMap(({ number, moves }) =>
        moves.flatMap((move, index) => (namesOf(move).includes(wallet) ? [`${number}.${index}`] : [])),
      ),
    /** What a wallet owned after a block, in the order of acquisition, with the block and log of it. */
    owned: (wallet: string, asOf: bigint): readonly Owned[] =>
      ownedBy(
        wallet,
        blocks.filter(({ number }) => number <= asOf),
      ),
  };
}

/**
 * Lets each ERC-721 be sent by who has it. Who sends one that it never got had it before the index began, which is another
 * rule than those that are tried here.
 */
function byOwners(moves: readonly Move[], blocks: readonly ModelBlock[]): readonly Move[] {
  const owners = new Map<number, number>();
  const settle = (move: Move): Move => {
    if (move.kind !== 'erc721') return move;
    const from = owners.get(move.tokenId) ?? -1;
    owners.set(move.tokenId, move.to);
    return { ...move, from };
  };
  for (const { moves: earlier } of blocks) earlier.forEach(settle);
  return moves.map(settle);
}

const walletAt = (index: number) => wallets[index] ?? zeroAddress;

function namesOf({ kind, sender, from, to }: Move): string[] {
  return kind === 'call' ? [walletAt(sender), walletAt(to)] : [sender, from, to].map(walletAt);
}

/** `what`: contract, token id and amount. */
export type Owned = { readonly what: string; readonly at: readonly [bigint, number] };

function ownedBy(wallet: string, blocks: readonly ModelBlock[]): Owned[] {
  const amounts = new Map<string, { amount: number; at: readonly [bigint, number] }>();
  for (const { number, moves } of blocks) {
    // The index counts logs, not transactions.
    const logs = moves.filter(({ kind }) => kind !== 'call');
    for (const [index, { kind, from, to, tokenId, amount }] of logs.entries()) {
      if (kind === 'erc1155' && amount === 0) continue;
      const key = `${kind === 'erc721' ? collection : pieces} ${tokenId}`;
      const before = amounts.get(key) ?? { amount: 0, at: [0n, 0] };
      const single = kind === 'erc721';
      const [loses, gets] = [walletAt(from) === wallet, walletAt(to) === wallet];
      const kept = loses ? (single ? 0 : before.amount - amount) : before.amount;
      if (gets) amounts.set(key, { amount: single ? 1 : kept + amount, at: [number, index] });
      else if (loses) amounts.set(key, { ...before, amount: kept });
    }
  }
  return [...amounts]
    .filter(([, { amount }]) => amount > 0)
    .sort(([, a], [, b]) => Number(a.at[0] - b.at[0]) || a.at[1] - b.at[1])
    .map(([key, { amount, at }]) => ({ what: `${key} ${amount}`, at }));
}

function nodeOver(blocks: readonly ModelBlock[]): NodeBlocks {
  const headerOf = ({ number, hash, parentHash }: ModelBlock) => ({
    number,
    hash,
    parentHash,
    timestamp: 1_700_000_000n,
  });
  const at = (number: bigint) => blocks[Number(number)];
  return {
    head: async () => BigInt(blocks.length - 1),
    newest: async () => ({ number: BigInt(blocks.length - 1), ...blocks.at(-1) }),
    finalized: async (head) => (head < finality ? -1n : head - BigInt(finality)),
    async headerAt(number) {
      const block = at(number);
      return block && headerOf(block);
    },
    async blockAt(number) {
      const block = at(number);
      return block && sourceOf(block, headerOf(block));
    },
  };
}

function sourceOf(
  { hash: blockHash, moves }: ModelBlock,
  header: BlockSource['block']['header'],
): BlockSource {
  const rest = { nonce: 0n, value: 0n, gas: 1n, gasPrice: 1n, minted: 0n, selector: '0x12345678' };
  const named = moves.map((move, index) => ({ move, index, hash: id(`${blockHash} ${index}`) }));
  return {
    block: {
      header,
      transactions: named.map(({ move, index, hash }) => ({
        ...rest,
        hash,
        index,
        from: walletAt(move.sender),
        to: move.kind === 'call' ? walletAt(move.to) : collection,
      })),
    },
    receipts: named.map(({ move, index, hash }) => ({
      hash,
      blockHash,
      succeeded: true,
      gasUsed: 1n,
      gasPrice: 1n,
      extraFee: 0n,
      created: null,
      logs: logsOf(move, index),
    })),
    traces: undefined,
  };
}

function logsOf({ kind, sender, from, to, tokenId, amount }: Move, index: number): RawLog[] {
  const [giver, taker] = [topicOf(walletAt(from)), topicOf(walletAt(to))];
  if (kind === 'call') return [];
  if (kind === 'erc721') {
    return [
      { address: collection, topics: [topics.transfer, giver, taker, topicOf(tokenId)], data: '0x', index },
    ];
  }
  const data = `0x${word(tokenId)}${word(amount)}`;
  return [
    {
      address: pieces,
      topics: [topics.transferSingle, topicOf(walletAt(sender)), giver, taker],
      data,
      index,
    },
  ];
}
