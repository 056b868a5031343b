/** What the protocol of a network credits outside of transactions, as far as it is known. */
export type CreditRules = {
  /** Whether withdrawals of a block (EIP-4895) are paid in the native asset. */
  readonly withdrawals: boolean;
  /**
   * Undefined where nobody has said here who is paid for a block. Otherwise fees above the base fee go to the
   * beneficiary. A block of proof of work also pays `blockReward`, in the smallest unit.
   */
  readonly rewards: { readonly blockReward: (number: bigint) => bigint } | undefined;
};

const ether = 10n ** 18n;

/** Frontier, Byzantium (EIP-649) and Constantinople (EIP-1234). */
const mainnetReward = (number: bigint) => (number < 4_370_000n ? 5n : number < 7_280_000n ? 3n : 2n) * ether;
const feesOnly = { withdrawals: true, rewards: { blockReward: () => 0n } };
/** Stakes are paid back in the token GNO. */
const gnosis = { withdrawals: false, rewards: undefined };

const known: Readonly<Record<string, CreditRules>> = {
  '1': { withdrawals: true, rewards: { blockReward: mainnetReward } },
  // Proof of stake from the first block, or a local chain without rewards.
  '17000': feesOnly,
  '560048': feesOnly,
  '31337': feesOnly,
  // Sepolia was made after Constantinople.
  '11155111': { withdrawals: true, rewards: { blockReward: () => 2n * ether } },
  '100': gnosis,
  '10200': gnosis,
};

const unknown: CreditRules = { withdrawals: true, rewards: undefined };

export function creditRulesOf(chainId: string): CreditRules {
  return known[chainId] ?? unknown;
}
