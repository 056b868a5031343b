import type { StoredMoves, StoredTransaction } from '../../classify/stored-moves.ts';
import type { Approval, BlockCredit, IndexedBlock } from '../../decode/domain.ts';
import { type BulkColumns, bytes } from './bulk-store.ts';
import { columnsOf, timeOf } from './row-columns.ts';

/** By the number that the tables have for it. */
export const creditKinds = { withdrawal: 1, fees: 2, block: 3, uncle: 4 } as const;
const creditKindNames = ['withdrawal', 'fees', 'block', 'uncle'] as const;

/** The kind of a credit by the number that the tables have for it. */
export function creditKindName(number: number): BlockCredit['kind'] {
  const name = creditKindNames[number - 1];
  if (name === undefined) throw new Error(`There is no kind ${number} of credits.`);
  return name;
}

export const approvalKinds = { amount: 1, token: 2, all: 3 } as const;
const approvalKindNames = ['amount', 'token', 'all'] as const;

/** The kind of an approval by the number that the tables have for it. */
export function approvalKindName(number: number): Approval['kind'] {
  const name = approvalKindNames[number - 1];
  if (name === undefined) throw new Error(`There is no kind ${number} of approvals.`);
  return name;
}

/** What changes the sums of one wallet. */
export type NativeChange = {
  /** Incoming less outgoing amounts, without fees. */
  moved: bigint;
  fees: bigint;
  /** Transactions whose fee is not known. */
  unknownFees: bigint;
  withdrawals: bigint;
  rewards: bigint;
};

/** The native asset, added up by wallet. */
export type NativeSums = {
  addRow(wallet: string, transaction: StoredTransaction, moves: Pick<StoredMoves, 'native'>): void;
  addCredit(credit: Pick<BlockCredit, 'wallet' | 'kind' | 'amount'>): void;
  /** The sum for a wallet. */
  of(wallet: string): NativeChange | undefined;
  /** @param sign -1n takes away what the rows had added */
  columns(sign?: 1n | -1n): BulkColumns;
  /** Adds everything of other sums. */
  addAll(others: NativeSums): void;
  all(): Iterable<readonly [wallet: string, change: NativeChange]>;
};

/** Pure. */
export function createNativeSums(): NativeSums {
  const sums = new Map<string, NativeChange>();
  const sumOf = (wallet: string) => {
    const known = sums.get(wallet);
    if (known !== undefined) return known;
    const begun = { moved: 0n, fees: 0n, unknownFees: 0n, withdrawals: 0n, rewards: 0n };
    sums.set(wallet, begun);
    return begun;
  };
  return {
    addRow(wallet, transaction, { native }) {
      const pays = (transaction.feePayer ?? transaction.from) === wallet;
      if (native.length === 0 && !pays) return;
      const sum = sumOf(wallet);
      for (const { from, to, value } of native) {
        if (to === wallet) sum.moved += value;
        if (from === wallet) sum.moved -= value;
      }
      if (!pays) return;
      // A fee that was paid in a token is known, and no native fee.
      sum.fees += transaction.fee ?? 0n;
      if (transaction.gasUsed === null || transaction.gasPrice === null) sum.unknownFees += 1n;
    },
    addCredit({ wallet, kind, amount }) {
      sumOf(wallet)[kind === 'withdrawal' ? 'withdrawals' : 'rewards'] += amount;
    },
    of: (wallet) => sums.get(wallet),
    columns: (sign = 1n) => sumColumns(sums, sign),
    addAll(others) {
      for (const [wallet, change] of others.all()) {
        const sum = sumOf(wallet);
        sum.moved += change.moved;
        sum.fees += change.fees;
        sum.unknownFees += change.unknownFees;
        sum.withdrawals += change.withdrawals;
        sum.rewards += change.rewards;
      }
    },
    all: () => sums,
  };
}

/** Sums of several blocks as the columns of their table. */
export function sumOfSums(all: readonly NativeSums[]): BulkColumns {
  const total = createNativeSums();
  for (const sums of all) total.addAll(sums);
  return total.columns();
}

function sumColumns(sums: ReadonlyMap<string, NativeChange>, sign: bigint): BulkColumns {
  const rows = columnsOf({
    wallet: 'bytea',
    moved: 'numeric',
    fees: 'numeric',
    unknown_fees: 'bigint',
    withdrawals: 'numeric',
    rewards: 'numeric',
  });
  for (const [wallet, { moved, fees, unknownFees, withdrawals, rewards }] of sums) {
    const values = [moved, fees, unknownFees, withdrawals, rewards];
    if (values.some((value) => value !== 0n))
      rows.add(bytes(wallet), ...values.map((value) => String(sign * value)));
  }
  return rows.columns;
}

/** What a wallet approves, by the name of the approval: the next approval of the same name replaces it. */
type ApprovalKey = readonly [wallet: string, contract: string, kind: string, tokenId: string, party: string];

function keyOf({ owner, token, kind, value, spender }: Approval): ApprovalKey {
  const party = kind === 'token' ? '\\x' : bytes(spender);
  return [
    bytes(owner),
    bytes(token),
    String(approvalKinds[kind]),
    kind === 'token' ? String(value) : '0',
    party,
  ];
}

const approvalKey = {
  wallet: 'bytea',
  contract: 'bytea',
  kind: 'smallint',
  token_id: 'numeric',
  party: 'bytea',
};

/** Returns the rows of these blocks that belong neither to a history nor to NFTs. Pure. */
export function ledgerRows(blocks: readonly IndexedBlock[]) {
  const credited = columnsOf({
    wallet: 'bytea',
    kind: 'smallint',
    block_number: 'bigint',
    place: 'integer',
    block_hash: 'bytea',
    block_time: 'timestamptz',
    amount: 'numeric',
    validator_index: 'numeric',
    withdrawal_index: 'numeric',
  });
  const changed = columnsOf({
    ...approvalKey,
    block_number: 'bigint',
    log_index: 'integer',
    spender: 'bytea',
    amount: 'numeric',
    granted: 'boolean',
  });
  const last = new Map<string, { readonly key: ApprovalKey; readonly rest: readonly string[] }>();
  for (const block of blocks) {
    const number = String(block.header.number);
    for (const credit of block.credits) {
      const { wallet, kind, place, amount, validatorIndex, withdrawalIndex } = credit;
      credited.add(
        ...[bytes(wallet), String(creditKinds[kind]), number, String(place), bytes(block.header.hash)],
        ...[timeOf(block), String(amount), validatorIndex?.toString() ?? null],
        withdrawalIndex?.toString() ?? null,
      );
    }
    for (const approval of block.transactions.flatMap(({ approvals }) => approvals)) {
      const { spender, kind, value, granted, logIndex } = approval;
      const key = keyOf(approval);
      const amount = kind === 'amount' ? String(value) : '0';
      changed.add(...key, number, String(logIndex), bytes(spender), amount, String(granted));
      last.set(key.join(), {
        key,
        rest: [bytes(spender), amount, String(granted), number, String(logIndex)],
      });
    }
  }
  const live = columnsOf({
    ...approvalKey,
    spender: 'bytea',
    amount: 'numeric',
    granted: 'boolean',
    changed_block: 'bigint',
    changed_log: 'integer',
  });
  for (const { key, rest } of last.values()) live.add(...key, ...rest);
  return {
    block_credits: credited.columns,
    approval_changes: changed.columns,
    wallet_approvals: live.columns,
  };
}
