// EIP-7825: what one transaction may use since the Fusaka upgrade. Local chains do not enforce it.
const transactionGas = 16_777_216n;
// Measured for our contract: 48,216 a token in a batch of 100 to new recipients, 71,487 for a single one.
const fixedGas = 40_000n;
const tokenGas = 49_000n;

/** What minting on one contract takes. */
export type GasCost = { readonly fixed: bigint; readonly perToken: bigint };

/**
 * The cost of a contract, from what a node says one token takes. It is never taken for less than our own
 * contract's: a token that exists already is passed over for little, and may be gone after a reorganisation.
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
  /** Of a block's gas that one transaction may take, in percent. */
  readonly blockShare: number;
  /** Gas that the signer can pay for. */
  readonly affordable: bigint;
};

/** How many tokens fit one transaction; 0 when not even one can be paid for. */
export function tokensPerTransaction({ cost, blockGasLimit, blockShare, affordable }: Bounds): number {
  const share = (blockGasLimit * BigInt(blockShare)) / 100n;
  const gas = [transactionGas, share, affordable].reduce((least, bound) => (bound < least ? bound : least));
  return gas < cost.fixed + cost.perToken ? 0 : Number((gas - cost.fixed) / cost.perToken);
}
