import { problem } from '../../../base/errors.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { components } from '../../../contract/generated/blockchain.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { Coverage, Freshness } from '../../shared/provider.ts';
import type { NativeChange } from '../store/rows/ledger-rows.ts';
import { findCoverage } from './coverage-store.ts';
import { notIndexed } from './not-indexed.ts';
import {
  findReplaceableHash,
  findWalletSums,
  type LedgerState,
  mostRecords,
} from './reconciliation-store.ts';
import type { StateReader } from './state-reader.ts';

type Cause = components['schemas']['ReconciliationCause'];

/** Amounts are in the smallest unit of the native asset. */
type Reason = {
  readonly cause: Cause;
  /** The amount that it adds to the balance; undefined where that is not known. */
  readonly amount: bigint | undefined;
  readonly count: bigint | undefined;
};

/** The balance of a wallet next to the sum of its history. */
export type Reconciliation = {
  readonly address: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly balance: bigint;
  readonly expected: bigint;
  /** The part of the difference that no known amount explains. */
  readonly unattributed: bigint;
  readonly status: components['schemas']['ReconciliationStatus'];
  readonly sums: NativeChange;
  readonly reasons: readonly Reason[];
  /** The head of the index. The block of the figures may be an earlier block. */
  readonly completeTo: Freshness;
  readonly coverage: Coverage | undefined;
};

type Options = { readonly db: Database; readonly states: StateReader };
type Question = {
  readonly network: Network;
  readonly address: string;
  /** Undefined for the newest block of the index. */
  readonly asOf: bigint | undefined;
};

/**
 * Compares a wallet's balance at a node with the sums of the index, at the same block.
 * @throws problem `block_not_indexed`, `as_of_too_far`, `balance_unavailable`, or `service_unavailable` where the index
 *   keeps no sums yet
 */
export async function reconcile(options: Options, question: Question): Promise<Reconciliation> {
  const { db, states } = options;
  const { network, address, asOf } = question;
  const { chainId } = network;
  const found = await findWalletSums(db, { chainId, wallet: address }, asOf);
  if (found === undefined) throw problem('service_unavailable');
  const { state, sums } = found;
  const block = asOf ?? state.head.blockNumber;
  if (block > state.head.blockNumber || block < state.from) throw notIndexed(block, 'asOf');
  if (sums === undefined) throw tooFar(block);
  const ofHead = block === state.head.blockNumber;
  const blockHash = ofHead ? state.head.blockHash : await findReplaceableHash(db, chainId, block);
  const at = await states
    .balance({ network, blockNumber: block, blockHash }, address)
    .catch((cause: unknown) => {
      throw problem('balance_unavailable', {}, { cause });
    });
  const expected = sums.moved - sums.fees + sums.withdrawals + sums.rewards;
  const coverage = await findCoverage(db, chainId, { toBlock: block });
  const difference = at.balance - expected;
  const judged = await judge({ ...question, states, state, sums, difference, coverage });
  const completeTo = state.head;
  return { address, blockNumber: block, ...at, expected, sums, completeTo, coverage, ...judged };
}

function tooFar(block: bigint) {
  const words = { limit: String(mostRecords), block: String(block) };
  const { message } = problem('as_of_too_far', words);
  return problem('as_of_too_far', words, { errors: [{ in: 'query', name: 'asOf', message }] });
}

type Evidence = Question & {
  readonly states: StateReader;
  readonly state: LedgerState;
  readonly sums: NativeChange;
  readonly difference: bigint;
  readonly coverage: Coverage | undefined;
};

type Judgement = Pick<Reconciliation, 'unattributed' | 'status' | 'reasons'>;

async function judge(evidence: Evidence): Promise<Judgement> {
  const { difference } = evidence;
  const before = await balanceBefore(evidence);
  const counted = countedReasons(evidence);
  if (difference === 0n && isNothingHidden(before, counted)) {
    return { unattributed: 0n, status: 'equal', reasons: [] };
  }
  const known = before.filter(({ amount }) => amount !== undefined);
  const unattributed = known.reduce((rest, { amount = 0n }) => rest - amount, difference);
  if (unattributed === 0n && before.length === known.length) {
    return { unattributed, status: 'explained', reasons: known };
  }
  const reasons = [...before, ...counted].filter(({ cause, amount }) =>
    amount === undefined ? canBe(cause, unattributed) : true,
  );
  const open = reasons.some(({ amount }) => amount === undefined);
  return { unattributed, status: open ? 'explained' : 'unexplained', reasons };
}

/**
 * Returns whether equal figures show that the history is whole. The wallet had nothing before, or what it had is
 * unknown and nothing is missing that could have taken it.
 */
function isNothingHidden(before: readonly Reason[], counted: readonly Reason[]): boolean {
  if (before.length === 0) return true;
  return (
    before.every(({ amount }) => amount === undefined) && !counted.some(({ cause }) => canBe(cause, -1n))
  );
}

/**
 * Returns which way a reason changes a balance. Rewards and earlier amounts make it larger than its sums, unknown
 * fees smaller.
 */
function canBe(cause: Cause, unattributed: bigint): boolean {
  // Missing parts of both sides may cancel each other out.
  if (unattributed === 0n) return true;
  if (cause === 'rewards_unknown' || cause === 'before_first_block') return unattributed > 0n;
  if (cause === 'fees_unknown' || cause === 'l1_data_fee_unknown') return unattributed < 0n;
  return true;
}

/**
 * Returns what the wallet had before the first block of the sums. For the first block of a chain it is what that
 * block gave.
 */
async function balanceBefore({ states, network, address, state }: Evidence): Promise<Reason[]> {
  const block = state.from > 0n ? state.from - 1n : 0n;
  const amount = await states.balanceBefore(network, address, block);
  return amount === 0n ? [] : [{ cause: 'before_first_block', amount, count: undefined }];
}

function countedReasons({ state, sums, coverage }: Evidence): Reason[] {
  const counts: readonly (readonly [Cause, bigint])[] = [
    ['untraced_blocks', state.untracedBlocks],
    ['skipped_blocks', BigInt(coverage?.skippedBlocks.length ?? 0)],
    ['rewards_unknown', state.unrewardedBlocks],
    ['fees_unknown', sums.unknownFees],
    ['l1_data_fee_unknown', state.partialFees],
  ];
  return counts
    .filter(([, count]) => count > 0n)
    .map(([cause, count]) => ({ cause, amount: undefined, count }));
}
