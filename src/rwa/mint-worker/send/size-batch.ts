import type { Fees } from '../../../chain/minting/fees.ts';
import { costWithin, enoughGasFor, type GasCost, gasFor, tokensWithin } from '../../../chain/minting/gas.ts';
import { encodeMintBatch } from '../../../chain/minting/mint-contract.ts';
import { hasTimedOut, isOfNode } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { QueuedMint } from '../stores/queued-nft-store.ts';

/** NFTs that one transaction mints, and the gas limit that suffices for just these. */
export type SizedBatch = { readonly mints: readonly QueuedMint[]; readonly gasLimit: bigint };

/** An NFT because of which the contract rejects a batch. */
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

// 17 questions find one NFT among 340. What they do not find stays queued until the next poll.
const mostQuestions = 24;
const mostBlamed = 20;

/**
 * Sizes a batch by the node's estimate for exactly the NFTs that are to be signed. When the contract rejects the batch,
 * halving finds the NFTs to blame, and the others are sent.
 */
export async function sizeBatch(context: LaneContext, wanted: Wanted): Promise<Sized> {
  const sieve = createSieve(context, wanted);
  const groups = await sieve.sift(wanted.mints);
  const { blamed } = sieve;
  const passing = groups.flatMap(({ mints }) => mints);
  const united = groups.length === 1 ? groups[0] : await sieve.estimate(passing);
  // When each part passes and all together do not, the largest part is sent.
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
  // As estimated: each estimate is multiplied by the factor.
  let cost = known;
  let found = given;
  while (found !== undefined && found.mints.length > 0) {
    const { gas, mints } = found;
    const estimated = enoughGasFor(gas, mints.length);
    cost = costWithin(estimated, mints.length);
    const enough = estimated * gasFactor;
    // The contract skips an existing token for little gas. After a reorganisation the token may not exist any more.
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
  /** The estimate of these together; undefined when the contract rejects them, or too much was asked already. */
  estimate(mints: readonly QueuedMint[]): Promise<Estimated | undefined>;
  /** Divides NFTs into groups that the contract accepts, with a bounded number of questions. */
  sift(mints: readonly QueuedMint[]): Promise<Estimated[]>;
};

function createSieve({ node, signer, stopping }: LaneContext, { contract, fees }: Wanted): Sieve {
  const blamed: Blamed[] = [];
  let asked = 0;

  const ask = async (mints: readonly QueuedMint[]) => {
    asked += 1;
    const data = encodeMintBatch(mints);
    try {
      return await node.estimate(signer.address, contract, data, fees);
    } catch (error) {
      // With a price, nodes check the funds first. The gas decides later what can be paid.
      if (!isOfNode(error) || hasTimedOut(error)) throw error;
      return node.estimate(signer.address, contract, data);
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
