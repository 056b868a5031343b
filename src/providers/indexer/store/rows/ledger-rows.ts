import type { StoredMoves, StoredTransaction } from '../../classify/stored-moves.ts';
import type { Approval, BlockCredit, IndexedBlock } from '../../decode/domain.ts';
import { bytes, type Row, timeOf } from './bulk-store.ts';

/** The kinds of credits and of approvals by the numbers that the tables have for them. */
export const creditKinds = { withdrawal: 1, fees: 2, block: 3, uncle: 4 } as const;
export const approvalKinds = { amount: 1, token: 2, all: 3 } as const;

/** Returns the kind with a number of the tables. */
export function kindName<Kind extends string>(kinds: Readonly<Record<Kind, number>>, number: number): Kind {
  for (const name in kinds) if (kinds[name] === number) return name;
  throw new Error(`There is no kind ${number} among ${Object.keys(kinds).join(', ')}.`);
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
  rows(sign?: 1n | -1n): readonly Row[];
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
      const paid = feeOf(transaction, wallet);
      const pays = paid !== undefined;
      if (native.length === 0 && !pays) return;
      const sum = sumOf(wallet);
      for (const { from, to, value } of native) {
        if (to === wallet) sum.moved += value;
        if (from === wallet) sum.moved -= value;
      }
      if (!pays) return;
      // A fee that was paid in a token is known, and no native fee.
      sum.fees += paid;
      const { gasUsed, gasPrice, isBlobFeeUnknown = false } = transaction;
      if (gasUsed === null || gasPrice === null || isBlobFeeUnknown) sum.unknownFees += 1n;
    },
    addCredit({ wallet, kind, amount }) {
      sumOf(wallet)[kind === 'withdrawal' ? 'withdrawals' : 'rewards'] += amount;
    },
    of: (wallet) => sums.get(wallet),
    rows: (sign = 1n) => sumRows(sums, sign),
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

/** Returns what the wallet paid of the fee, 0 of an unknown fee; undefined where it was not to pay. */
function feeOf(
  { from, fee, feePayer, feePayerPercent }: StoredTransaction,
  wallet: string,
): bigint | undefined {
  const whole = fee ?? 0n;
  if (feePayer === null || feePayerPercent === undefined)
    return wallet === (feePayer ?? from) ? whole : undefined;
  const shared = (whole * BigInt(feePayerPercent)) / 100n;
  if (wallet === feePayer) return shared;
  return wallet === from ? whole - shared : undefined;
}

/** Sums of several blocks as the rows of their table. */
export function sumOfSums(all: readonly NativeSums[]): readonly Row[] {
  const total = createNativeSums();
  for (const sums of all) total.addAll(sums);
  return total.rows();
}

function sumRows(sums: ReadonlyMap<string, NativeChange>, sign: bigint): Row[] {
  return [...sums].flatMap(([wallet, change]) => {
    const { moved, fees, unknownFees, withdrawals, rewards } = change;
    if (Object.values(change).every((value) => value === 0n)) return [];
    return {
      wallet: bytes(wallet),
      moved: sign * moved,
      fees: sign * fees,
      unknown_fees: sign * unknownFees,
      withdrawals: sign * withdrawals,
      rewards: sign * rewards,
    };
  });
}

/** What a wallet approves, by the name of the approval: the next approval of the same name replaces it. */
export const approvalKey = ['wallet', 'contract', 'kind', 'token_id', 'party'] as const;

function keyOf({ owner, token, kind, value, spender }: Approval) {
  return {
    wallet: bytes(owner),
    contract: bytes(token),
    kind: approvalKinds[kind],
    token_id: kind === 'token' ? value : 0n,
    party: kind === 'token' ? '\\x' : bytes(spender),
  };
}

/** Returns the rows of these blocks that belong neither to a history nor to NFTs. Pure. */
export function ledgerRows(blocks: readonly IndexedBlock[]) {
  const changes = blocks.flatMap(({ header, transactions }) =>
    transactions.flatMap(({ approvals }) =>
      approvals.map((approval) => ({
        ...keyOf(approval),
        block_number: header.number,
        log_index: approval.logIndex,
        spender: bytes(approval.spender),
        amount: approval.kind === 'amount' ? approval.value : 0n,
        granted: approval.granted,
      })),
    ),
  );
  const last = new Map(changes.map((change) => [approvalKey.map((name) => change[name]).join(), change]));
  return {
    block_credits: blocks.flatMap(creditRows),
    approval_changes: changes,
    wallet_approvals: [...last.values()].map(({ block_number, log_index, ...rest }) => ({
      ...rest,
      changed_block: block_number,
      changed_log: log_index,
    })),
  };
}

function creditRows({ header, credits }: IndexedBlock) {
  return credits.map(({ wallet, kind, place, amount, validatorIndex, withdrawalIndex }) => ({
    wallet: bytes(wallet),
    kind: creditKinds[kind],
    block_number: header.number,
    place,
    block_hash: bytes(header.hash),
    block_time: timeOf(header),
    amount,
    validator_index: validatorIndex,
    withdrawal_index: withdrawalIndex,
  }));
}
