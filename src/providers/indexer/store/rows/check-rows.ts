import type { Erc20Movement, IndexedBlock, IndexedTransaction, NftMovement } from '../../decode/domain.ts';
import { bytes } from './bulk-store.ts';

/** A transfer whose sender neither signed nor shows to be a contract. */
export type SuspectTransfer = {
  readonly transaction: number;
  readonly logIndex: number;
  readonly standard: 20 | 721 | 1155;
  readonly token: string;
  /** The first token, where there are several; null of an ERC-20. */
  readonly tokenId: bigint | null;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  /** By how much all transfers of the block change what the sender has of it. */
  readonly change: bigint;
  /** The same of the recipient. */
  readonly gain: bigint;
  /** The sender of the transaction and the called contract: the accounts that may have been approved. */
  readonly spenders: readonly string[];
};

/** Compact, because one transaction may forge hundreds of them. */
type SuspectJson = [
  ...transfer: [number, number, 20 | 721 | 1155, string, string | null],
  ...amounts: [from: string, to: string, value: string, change: string, gain: string],
];
type ChecksJson = {
  readonly t: readonly SuspectJson[];
  /** Spenders by the index of their transaction. */
  readonly s: Readonly<Record<string, readonly string[]>>;
};

// Further transfers of a block stay unknown.
const mostInBlock = 2_000;

type Movement = {
  readonly token: string;
  readonly tokenId: bigint | null;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  readonly logIndex: number;
  readonly standard: 20 | 721 | 1155;
};

function movementsOf({ erc20, nft }: Pick<IndexedTransaction, 'erc20' | 'nft'>): Movement[] {
  return [
    ...erc20.map(({ value, ...rest }: Erc20Movement) => ({
      ...rest,
      amount: value,
      tokenId: null,
      standard: 20 as const,
    })),
    ...nft.map(({ standard, ...rest }: NftMovement) => ({
      ...rest,
      standard: standard === 'ERC721' ? (721 as const) : (1155 as const),
    })),
  ];
}

/** One row for each block with suspects. */
export function checkRows(blocks: readonly IndexedBlock[]) {
  return blocks
    .filter(({ transactions }) => transactions.some(({ suspects }) => suspects.length > 0))
    .map(({ header, transactions }) => ({
      block_number: header.number,
      block_hash: bytes(header.hash),
      transfers: JSON.stringify(checksOf(transactions)),
    }));
}

function checksOf(transactions: readonly IndexedTransaction[]): ChecksJson {
  const changes = new Map<string, bigint>();
  const add = (key: string, amount: bigint) => changes.set(key, (changes.get(key) ?? 0n) + amount);
  for (const movement of transactions.flatMap(movementsOf)) {
    add(keyOf(movement, movement.from), -movement.amount);
    add(keyOf(movement, movement.to), movement.amount);
  }
  const suspects: SuspectJson[] = [];
  const spenders: Record<string, readonly string[]> = {};
  for (const transaction of transactions) {
    if (transaction.suspects.length === 0) continue;
    const { index, from: signer, to: called } = transaction;
    spenders[index] = called === null ? [signer] : [signer, called];
    const logs = new Set(transaction.suspects);
    for (const movement of movementsOf(transaction)) {
      if (!logs.delete(movement.logIndex) || suspects.length >= mostInBlock) continue;
      const { logIndex, standard, token, tokenId, from, to, amount } = movement;
      const change = changes.get(keyOf(movement, from)) ?? 0n;
      suspects.push([
        ...([index, logIndex, standard, token, tokenId?.toString() ?? null] as const),
        ...([from, to, String(amount), String(change)] as const),
        String(changes.get(keyOf(movement, to)) ?? 0n),
      ]);
    }
  }
  return { t: suspects, s: spenders };
}

const keyOf = ({ token, tokenId }: Movement, account: string) => `${token}${tokenId ?? ''}${account}`;

export function readSuspects(json: unknown): SuspectTransfer[] {
  const { t, s } = json as ChecksJson; // written by checkRows
  return t.map(([transaction, logIndex, standard, token, tokenId, from, to, value, change, gain]) => ({
    transaction,
    logIndex,
    standard,
    token,
    from,
    to,
    tokenId: tokenId === null ? null : BigInt(tokenId),
    value: BigInt(value),
    change: BigInt(change),
    gain: BigInt(gain),
    spenders: s[transaction] ?? [],
  }));
}
