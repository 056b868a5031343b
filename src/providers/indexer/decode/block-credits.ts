import { zeroAddress } from '../../../chain/address.ts';
import type { CreditRules } from './credit-rules.ts';
import type { BlockCredit, IndexedTransaction } from './domain.ts';
import type { RawBlock, RawUncle } from './raw-block.ts';

type Source = {
  readonly block: RawBlock;
  readonly transactions: readonly IndexedTransaction[];
  /** Undefined where they were not read. */
  readonly uncles: readonly RawUncle[] | undefined;
};

export type CreditFindings = {
  readonly credits: readonly BlockCredit[];
  /** Whether the credits include everything that was paid for the block. */
  readonly rewardsKnown: boolean;
};

type Found = Omit<BlockCredit, 'place'>;

const gwei = 10n ** 9n;
const nobody = { validatorIndex: null, withdrawalIndex: null };

/** Returns what the block credits outside of its transactions. Pure. */
export function creditsOf(source: Source, { withdrawals, rewards }: CreditRules): CreditFindings {
  const paid = rewards === undefined ? undefined : rewardsOf(source, rewards.blockReward);
  const found = [...(withdrawals ? withdrawalsOf(source.block) : []), ...(paid?.credits ?? [])];
  return {
    credits: found
      .filter(({ wallet, amount }) => wallet !== zeroAddress && amount > 0n)
      .map((credit, place) => ({ ...credit, place })),
    rewardsKnown: paid?.complete ?? false,
  };
}

function withdrawalsOf({ withdrawals = [] }: RawBlock): Found[] {
  return withdrawals.map(({ address: wallet, amount, index, validatorIndex }) => ({
    wallet,
    kind: 'withdrawal',
    amount: amount * gwei,
    validatorIndex,
    withdrawalIndex: index,
  }));
}

function rewardsOf({ block, transactions, uncles }: Source, blockReward: (number: bigint) => bigint) {
  const { beneficiary, baseFee = 0n, difficulty = 0n, uncleCount = 0 } = block;
  if (beneficiary === undefined) return { credits: [], complete: false };
  const fees = transactions.reduce(
    (sum, { gasUsed, gasPrice, fee }) =>
      sum +
      (fee === null || gasPrice === null || gasPrice < baseFee ? 0n : (gasUsed ?? 0n) * (gasPrice - baseFee)),
    0n,
  );
  const reward = difficulty === 0n ? 0n : blockReward(block.header.number);
  const own = reward + (reward / 32n) * BigInt(uncleCount);
  const credits: Found[] = [
    { wallet: beneficiary, kind: 'fees', amount: fees, ...nobody },
    { wallet: beneficiary, kind: 'block', amount: own, ...nobody },
    ...(uncles ?? []).map(
      (uncle): Found => ({
        wallet: uncle.beneficiary,
        kind: 'uncle',
        amount: ((uncle.number + 8n - block.header.number) * reward) / 8n,
        ...nobody,
      }),
    ),
  ];
  const allFees = transactions.every(({ gasUsed, gasPrice }) => gasUsed !== null && gasPrice !== null);
  return { credits, complete: allFees && (reward === 0n || (uncles?.length ?? 0) === uncleCount) };
}
