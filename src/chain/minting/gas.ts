// EIP-7825: the gas limit of a transaction since the Fusaka upgrade. Local chains do not enforce it.
const transactionGas = 16_777_216n;
// Measured for our contract: 48,216 a token in a batch of 100 to new recipients, 71,487 for a single one.
const fixedGas = 40_000n;
const tokenGas = 49_000n;

/** The gas that minting on one contract uses. */
export type GasCost = { readonly fixed: bigint; readonly perToken: bigint };

/**
 * The gas cost of a contract, from a node's estimate for one token. It is never below that of our own contract: a
 * token that already exists is skipped cheaply, and may no longer exist after a reorganisation.
 */
export function gasCostOf(estimateOfOne: bigint): GasCost {
  const beyond = (estimateOfOne * 11n) / 10n - fixedGas;
  return { fixed: fixedGas, perToken: beyond > tokenGas ? beyond : tokenGas };
}

export const gasFor = ({ fixed, perToken }: GasCost, tokens: number): bigint =>
  fixed + perToken * BigInt(tokens);

type Bounds = {
  readonly cost: GasCost;
  readonly blockGasLimit: bigint;
  /** Percentage of a block's gas limit that one transaction may use. */
  readonly blockShare: number;
  /** Gas that the signer can pay for. */
  readonly affordable: bigint;
};

/** How many tokens fit into one transaction; 0 when the signer cannot pay for one. */
export function tokensPerTransaction({ cost, blockGasLimit, blockShare, affordable }: Bounds): number {
  const share = (blockGasLimit * BigInt(blockShare)) / 100n;
  const gas = [transactionGas, share, affordable].reduce((least, bound) => (bound < least ? bound : least));
  return gas < cost.fixed + cost.perToken ? 0 : Number((gas - cost.fixed) / cost.perToken);
}
