/** The gas limit of a transaction since the Fusaka upgrade (EIP-7825). Local chains do not enforce it. */
export const transactionGas = 16_777_216n;
// Measured for our contract: 48,216 a token in a batch of 100 to new recipients, 71,487 for a single token.
const fixedGas = 40_000n;
const tokenGas = 49_000n;

/** The gas of a transfer without data: what fills a nonce uses. */
export const transferGas = 21_000n;

/** The gas that minting on one contract uses. */
export type GasCost = { readonly fixed: bigint; readonly perToken: bigint };

/**
 * The gas cost of a contract, from a node's estimate for one token. It is never below that of our own contract: a
 * token that already exists is skipped cheaply, and may no longer exist after a reorganisation.
 */
export function gasCostOf(estimateOfOne: bigint): GasCost {
  return costWithin((estimateOfOne * 11n) / 10n, 1);
}

/** The gas cost of a contract, from the gas limit of a batch that suffices for it. */
export function costWithin(gasLimit: bigint, tokens: number): GasCost {
  const perToken = (gasLimit - fixedGas) / BigInt(tokens);
  return { fixed: fixedGas, perToken: perToken > tokenGas ? perToken : tokenGas };
}

/** The cost of a contract that uses more than estimates say. */
export const timesGas = ({ fixed, perToken }: GasCost, factor: bigint): GasCost => ({
  fixed: fixed * factor,
  perToken: perToken * factor,
});

export const gasFor = ({ fixed, perToken }: GasCost, tokens: number): bigint =>
  fixed + perToken * BigInt(tokens);

/**
 * The gas that suffices for a batch, from a node's estimate for this very batch: an eighth more, since the state may
 * change until it is mined. The cost of our own contract, which does not depend on that, suffices as measured.
 */
export function enoughGasFor(estimate: bigint, tokens: number): bigint {
  const own = gasFor({ fixed: fixedGas, perToken: tokenGas }, tokens);
  return (estimate * 65n) / 64n <= own ? own : (estimate * 9n) / 8n;
}

type Share = {
  readonly blockGasLimit: bigint;
  /** Percentage of a block's gas limit that one transaction may use. */
  readonly blockShare: number;
};

/** The most gas that one transaction may have. */
export function mostGas({ blockGasLimit, blockShare }: Share): bigint {
  const share = (blockGasLimit * BigInt(blockShare)) / 100n;
  return share < transactionGas ? share : transactionGas;
}

/** How many tokens this much gas mints; 0 when it does not suffice for one. */
export function tokensWithin(cost: GasCost, gas: bigint): number {
  return gas < cost.fixed + cost.perToken ? 0 : Number((gas - cost.fixed) / cost.perToken);
}
