import {
  createMintSearch,
  forgetFailures,
  logRefusal,
  type SearchEnd,
  searchMints,
} from '../../../../chain/minting/mint-logs.ts';
import { bisect, createBisection } from '../../../minting/compare/bisect.ts';
import { findOrigin } from '../../../minting/compare/contract-origin.ts';
import { clockToleranceMs } from '../../../minting/compare/token-verdict.ts';
import { type Age, remember, type TransactionSearch } from '../../context/evidence-memory.ts';
import { PacedError } from '../../context/inquiry.ts';
import type { TransactionNft } from '../../stores/transaction-nft-store.ts';
import type { Look } from './look.ts';

type Subject = { readonly id: string; readonly contract: string };

/** The search for the NFTs of a transaction: one for all of them, resumed by each look until it has ended. */
export function searchFor(
  { context }: Look,
  { id }: Subject,
  nfts: readonly TransactionNft[],
): TransactionSearch {
  const { searches } = context.memory.evidence;
  const known = searches.get(id);
  const isKnown = nfts.every(({ tokenId }) => known?.logs.tokenIds.includes(tokenId));
  if (known !== undefined && isKnown) return known;
  const logs = createMintSearch(nfts.map(({ tokenId }) => tokenId));
  return remember(searches, id, { logs, isDeep: false });
}

/**
 * Searches for the mints of NFTs from the newest block down to the time of their rows, or to the creation of their
 * contract when the search is deep.
 * @throws PacedError; what the questions throw
 */
export async function searchHistory(
  look: Look,
  { contract }: Subject,
  nfts: readonly TransactionNft[],
  search: TransactionSearch,
): Promise<SearchEnd> {
  const { context, inquiry, view } = look;
  const { node, memory } = context;
  const final = await view.finalized();
  const oldest = Math.min(...nfts.map(({ createdAt }) => createdAt.getTime())) - clockToleranceMs;
  const lowest = search.isDeep ? 0n : await firstBlockSince(look, oldest);
  forgetFailures(memory.evidence.width);
  return searchMints(
    search.logs,
    (range) => inquiry.ask(() => node.mintsIn(contract, search.logs.tokenIds, range)),
    memory.evidence.width,
    { lowest, final, head: view.head.number, origin: () => originOf(look, contract, final) },
  );
}

const hourMs = 3_600_000;

/**
 * A block before which no block is from this time or later; at most an hour too old. Where the node no longer has older
 * blocks and it cannot be told, the first of all: what is missed then is missed when its logs are asked for.
 */
async function firstBlockSince({ context, inquiry, view }: Look, time: number): Promise<bigint> {
  const hour = Math.floor(time / hourMs);
  const { ages } = context.memory.evidence;
  const unknown: Age = createBisection(view.head.number);
  const age = ages.get(hour) ?? remember(ages, hour, unknown);
  const first = await bisect(age, async (number) => {
    try {
      const block = await inquiry.ask(() => context.node.block(number));
      return block === null || block.time.getTime() >= hour * hourMs;
    } catch (error) {
      if (logRefusal(error) !== 'pruned') throw error;
      if (number > (age.pruned ?? -1n)) age.pruned = number;
      return false;
    }
  });
  return age.pruned === first - 1n ? 0n : first;
}

/** The block in which the contract was created; undefined when it cannot be found out. */
async function originOf(look: Look, contract: string, final: bigint): Promise<bigint | undefined> {
  const { context, inquiry } = look;
  const { db, memory, network, node } = context;
  const { origins } = memory.evidence;
  const bisection = origins.get(contract) ?? remember(origins, contract, createBisection(final));
  const { chainId } = network;
  try {
    const search = { db, node, chainId, contract, newest: final, ask: inquiry.ask, bisection };
    return (await findOrigin(search)) ?? undefined;
  } catch (error) {
    if (error instanceof PacedError) throw error;
    await inquiry.reasonOf(error); // throws when the node is gone
    return undefined;
  }
}
