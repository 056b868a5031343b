import type { Fees } from '../../../chain/minting/fees.ts';
import { costWithin, enoughGasFor, type GasCost, gasFor, tokensWithin } from '../../../chain/minting/gas.ts';
import { isOfNode } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { QueuedMint } from '../stores/queued-nft-store.ts';

/** NFTs that one transaction mints, and the gas limit that suffices for just these. */
export type SizedBatch = { readonly mints: readonly QueuedMint[]; readonly gasLimit: bigint };

/** An NFT because of which the contract refuses a batch. */
export type Blamed = { readonly mint: QueuedMint; readonly refusal: string };

type Wanted = {
  readonly contract: string;
  readonly mints: readonly QueuedMint[];
  readonly cost: GasCost;
  /** The most gas that the transaction may have. */
  readonly mostGas: bigint;
  /** At which it is to be signed. */
  readonly fees: Fees;
  /** By how much the contract uses more gas than estimates say. */
  readonly gasFactor: bigint;
};

export type Sized = {
  /** Undefined when none of the NFTs can be sent now. */
  readonly batch: SizedBatch | undefined;
  readonly blamed: readonly Blamed[];
  /** What the contract uses, as now known. */
  readonly cost: GasCost;
};

// One NFT among 340 is found with 17; what is not found stays queued until the next poll.
const mostQuestions = 24;
const mostBlamed = 20;

/**
 * Sizes a batch by the node's estimate for the very NFTs that are to be signed. When the contract refuses it, the NFTs
 * to blame are found by halving, and the others are sent.
 */
export async function sizeBatch(context: LaneContext, wanted: Wanted): Promise<Sized> {
  const sieve = createSieve(context, wanted);
  const groups = await sieve.sift(wanted.mints);
  const { blamed } = sieve;
  const passing = groups.flatMap(({ mints }) => mints);
  const united = groups.length === 1 ? groups[0] : await sieve.estimate(passing);
  // What is refused together though each part passes is sent in parts.
  const largest = groups.toSorted((one, other) => other.mints.length - one.mints.length)[0];
  return shrink(sieve, wanted, united ?? largest, blamed);
}

/** Leaves NFTs out until the gas suffices. */
async function shrink(
  sieve: Sieve,
  { cost: known, gasFactor, mostGas }: Wanted,
  given: Estimated | undefined,
  blamed: readonly Blamed[],
): Promise<Sized> {
  // As estimated: the factor is added anew to each.
  let cost = known;
  let found = given;
  while (found !== undefined && found.mints.length > 0) {
    const { gas, mints } = found;
    const estimated = enoughGasFor(gas, mints.length);
    cost = costWithin(estimated, mints.length);
    const enough = estimated * gasFactor;
    // A token that exists is skipped cheaply, and may no longer exist after a reorganisation.
    const usual = gasFor(known, mints.length);
    const gasLimit = higher(enough, usual);
    if (gasLimit <= mostGas) return { batch: { mints, gasLimit }, blamed, cost };
    const needed = costWithin(gasLimit, mints.length);
    const fitting = Math.min(tokensWithin(needed, mostGas), mints.length - 1);
    found = fitting === 0 ? undefined : await sieve.estimate(mints.slice(0, fitting));
  }
  return { batch: undefined, blamed, cost };
}

const higher = (a: bigint, b: bigint) => (a > b ? a : b);

type Estimated = { readonly mints: readonly QueuedMint[]; readonly gas: bigint };

type Sieve = {
  readonly blamed: Blamed[];
  /** The estimate of these together; undefined when the contract refuses them, or too much was asked already. */
  estimate(mints: readonly QueuedMint[]): Promise<Estimated | undefined>;
  /** Divides NFTs into groups that the contract takes, as far as a bounded number of questions tells. */
  sift(mints: readonly QueuedMint[]): Promise<Estimated[]>;
};

function createSieve({ node, signer, stopping }: LaneContext, { contract, fees }: Wanted): Sieve {
  const blamed: Blamed[] = [];
  let asked = 0;

  const ask = async (mints: readonly QueuedMint[]) => {
    asked += 1;
    try {
      return await node.estimate(signer.address, contract, mints, fees);
    } catch (error) {
      // At a price nodes look at the funds first. What can be paid is decided with the gas.
      if (!isOfNode(error)) throw error;
      return node.estimate(signer.address, contract, mints);
    }
  };
  const sift = async (mints: readonly QueuedMint[]): Promise<Estimated[]> => {
    const isEnough = asked >= mostQuestions || blamed.length >= mostBlamed;
    if (mints.length === 0 || isEnough || stopping.aborted) return [];
    const answer = await ask(mints);
    if (typeof answer === 'bigint') return [{ mints, gas: answer }];
    const [mint] = mints;
    if (mints.length === 1 && mint !== undefined) {
      blamed.push({ mint, refusal: answer.refusal });
      return [];
    }
    const half = Math.ceil(mints.length / 2);
    return [...(await sift(mints.slice(0, half))), ...(await sift(mints.slice(half)))];
  };

  return {
    blamed,
    sift,
    async estimate(mints) {
      if (mints.length === 0) return undefined;
      const answer = await ask(mints);
      return typeof answer === 'bigint' ? { mints, gas: answer } : undefined;
    },
  };
}
