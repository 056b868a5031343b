import type {
  Approval,
  Erc20Movement,
  IndexedBlock,
  IndexedTransaction,
  NftMovement,
} from '../../decode/domain.ts';
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

/** An approval whose owner did not sign it. */
export type SuspectApproval = Pick<
  Approval,
  'token' | 'owner' | 'spender' | 'kind' | 'value' | 'logIndex'
> & {
  readonly transaction: number;
};

/** Returns the checks that a block needs. */
export type Suspects = {
  readonly transfers: readonly SuspectTransfer[];
  /** Their senders are contracts, unless they have a delegate. */
  readonly loud: readonly SuspectTransfer[];
  readonly approvals: readonly SuspectApproval[];
};

/** Compact, because one transaction may forge hundreds of them. */
type SuspectJson = [
  ...transfer: [number, number, 20 | 721 | 1155, string, string | null],
  ...amounts: [from: string, to: string, value: string, change: string, gain: string],
];
type ApprovalJson = [number, number, Approval['kind'], token: string, owner: string, spender: string, string];
type ChecksJson = {
  readonly t: readonly SuspectJson[];
  /** Loud transfers, and approvals; absent of rows of an earlier release. */
  readonly l?: readonly SuspectJson[];
  readonly a?: readonly ApprovalJson[];
  /** Spenders by the index of their transaction. */
  readonly s: Readonly<Record<string, readonly string[]>>;
};

// Of each kind. Further transfers of a block stay unknown.
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
    .filter(({ transactions }) => transactions.some(isDoubted))
    .map(({ header, transactions }) => ({
      block_number: header.number,
      block_hash: bytes(header.hash),
      transfers: JSON.stringify(checksOf(transactions)),
    }));
}

const isDoubted = ({ suspects, loudSuspects }: IndexedTransaction): boolean =>
  suspects.length + loudSuspects.length > 0;

function checksOf(transactions: readonly IndexedTransaction[]): ChecksJson {
  const changes = new Map<string, bigint>();
  const add = (key: string, amount: bigint) => changes.set(key, (changes.get(key) ?? 0n) + amount);
  for (const movement of transactions.flatMap(movementsOf)) {
    add(keyOf(movement, movement.from), -movement.amount);
    add(keyOf(movement, movement.to), movement.amount);
  }
  const transfersOf = (transaction: IndexedTransaction, indexes: readonly number[]): SuspectJson[] => {
    const logs = new Set(indexes);
    return movementsOf(transaction)
      .filter(({ logIndex }) => logs.delete(logIndex))
      .map((movement) => {
        const { logIndex, standard, token, tokenId, from, to, amount } = movement;
        const change = changes.get(keyOf(movement, from)) ?? 0n;
        return [
          ...([transaction.index, logIndex, standard, token, tokenId?.toString() ?? null] as const),
          ...([from, to, String(amount), String(change)] as const),
          String(changes.get(keyOf(movement, to)) ?? 0n),
        ];
      });
  };
  const doubted = transactions.filter(isDoubted);
  return {
    t: doubted.flatMap((each) => transfersOf(each, each.suspects)).slice(0, mostInBlock),
    l: doubted.flatMap((each) => transfersOf(each, each.loudSuspects)).slice(0, mostInBlock),
    a: doubted.flatMap(approvalsOf).slice(0, mostInBlock),
    s: Object.fromEntries(doubted.map(({ index, from, to }) => [index, to === null ? [from] : [from, to]])),
  };
}

function approvalsOf({ index, approvals }: IndexedTransaction): ApprovalJson[] {
  return approvals
    .filter(({ unsigned }) => unsigned)
    .map(({ logIndex, kind, token, owner, spender, value, granted }) => {
      // A revoked approval leaves nothing.
      const left = kind === 'all' ? String(Number(granted)) : String(value);
      return [index, logIndex, kind, token, owner, spender, left];
    });
}

const keyOf = ({ token, tokenId }: Movement, account: string) => `${token}${tokenId ?? ''}${account}`;

export function readSuspects(json: unknown): Suspects {
  const { t, l = [], a = [], s } = json as ChecksJson; // written by checkRows
  const read = ([
    transaction,
    logIndex,
    standard,
    token,
    tokenId,
    ...amounts
  ]: SuspectJson): SuspectTransfer => {
    const [from, to, value, change, gain] = amounts;
    return {
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
    };
  };
  return {
    transfers: t.map(read),
    loud: l.map(read),
    approvals: a.map(([transaction, logIndex, kind, token, owner, spender, value]) => ({
      transaction,
      logIndex,
      kind,
      token,
      owner,
      spender,
      value: BigInt(value),
    })),
  };
}
