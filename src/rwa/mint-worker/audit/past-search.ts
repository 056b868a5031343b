import type { HistoryRange, MintEvent } from '../../../chain/minting/mint-history.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { NodesUnavailableError } from '../../../chain/rpc/transport/node-fault.ts';
import { createBisection } from '../../minting/compare/bisect.ts';
import { type Comparison, compareInTurn, type Disagreement } from '../../minting/compare/compare-page.ts';
import { listSigners } from '../../minting/compare/contract-claim-store.ts';
import { findOrigin } from '../../minting/compare/contract-origin.ts';
import { isOwnAttempt } from '../../minting/compare/own-attempt-store.ts';
import { remember } from '../context/evidence-memory.ts';
import { createInquiry, isOfNode } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { type Ask, type PastSearch, type Searches, type Stretch, widest } from '../context/past-memory.ts';

/*
 * The comparison of all that a contract has minted with the rows, from the newest block downwards. It asks a few
 * questions for each block of the chain, is left at any of them and resumed with the next look.
 */

export type Wanted = {
  readonly searches: Searches;
  readonly contract: string;
  /** The oldest block that is not compared yet. */
  readonly from: bigint;
  readonly matches: (found: Disagreement) => boolean;
};

/**
 * Goes on with the search for a mint that matches.
 * @returns it; `none`; `no history` when the node does not even give the logs of the newest block
 * @throws PacedError when it goes on with the next look; what the questions throw
 */
export async function searchPast(
  context: LaneContext,
  head: Head,
  wanted: Wanted,
): Promise<Disagreement | 'none' | 'no history'> {
  const { db, lease, network, node } = context;
  const { searches } = wanted;
  const finalized = await node.finalized(head, network.finalityDepth);
  const search = searches.get(wanted.contract) ?? {
    final: stretch(wanted.from, finalized, undefined),
    recent: undefined,
    origin: undefined,
    questions: 0,
  };
  searches.set(wanted.contract, search);
  const ask = createAsk(lookOf(context, head), search);
  const comparison: Comparison = {
    db,
    chainId: lease.chainId,
    contract: wanted.contract,
    finalized,
    signers: new Set(await listSigners(db, lease.chainId)),
    node: {
      block: (number) => ask(() => node.block(number)),
      senderOf: (hash) => ask(() => node.senderOf(hash)),
      ownerOf: node.ownerOf,
    },
  };
  const found = await searchBoth({ context, ask, search, comparison, matches: wanted.matches }, head);
  searches.delete(wanted.contract);
  return found;
}

// With ten thousand blocks at once, some two million blocks; what is older is left to the audit.
const mostOfSearch = 200;

class EnoughError extends Error {}

function createAsk(ask: Ask, search: PastSearch): Ask {
  return async (question) => {
    if (search.questions >= mostOfSearch) throw new EnoughError();
    return ask(() => {
      search.questions += 1;
      return question();
    });
  };
}

async function searchBoth(parts: Parts, head: Head): Promise<Disagreement | 'none' | 'no history'> {
  try {
    const end = await searchStretch(parts, await recentStretch(parts, head));
    return end === 'none' ? await searchStretch(parts, parts.search.final) : end;
  } catch (error) {
    if (error instanceof EnoughError) return 'none';
    throw error;
  }
}

// The newest block may be the same for long, and a node that failed is asked again.
const longestLookMs = 5_000;
const mostQuestions = 5;

/** What one look at the chain may ask, however many polls and contracts share it. */
function lookOf(context: LaneContext, head: Head): Ask {
  const { memory, now } = context;
  const { look } = memory.past;
  if (look?.hash === head.hash && now() - look.at < longestLookMs) return look.ask;
  const { ask } = createInquiry(context, mostQuestions);
  memory.past.look = { hash: head.hash, at: now(), ask };
  return ask;
}

const stretch = (from: bigint, to: bigint, hash: string | undefined): Stretch => ({
  from,
  to,
  hash,
  next: to,
  mints: [],
});

type Parts = {
  readonly context: LaneContext;
  readonly ask: Ask;
  readonly search: PastSearch;
  readonly comparison: Comparison;
  readonly matches: Wanted['matches'];
};

/** The blocks above the final ones, begun anew when the newest of them is on the chain no more. */
async function recentStretch({ ask, context, search }: Parts, head: Head): Promise<Stretch> {
  const { recent, final } = search;
  if (recent !== undefined) {
    const isSame =
      recent.to === head.number
        ? recent.hash === head.hash
        : (await ask(() => context.node.block(recent.to)))?.hash === recent.hash;
    if (isSame) return recent;
  }
  const from = final.to + 1n > final.from ? final.to + 1n : final.from;
  search.recent = stretch(from, head.number, head.hash);
  return search.recent;
}

async function searchStretch(parts: Parts, part: Stretch): Promise<Disagreement | 'none' | 'no history'> {
  const { past } = parts.context.memory;
  for (;;) {
    const found = await comparePending(parts, part);
    if (found !== undefined) return found;
    const lowest = await lowestOf(parts, part);
    if (part.next < lowest) return 'none';
    const first = larger(lowest, part.next - past.width + 1n);
    const mints = await askOrNarrow(parts, { from: first, to: part.next });
    if (mints !== 'refused') {
      part.mints = mints;
      part.next = first - 1n;
      past.width = lesser(widest, past.width + past.width / 4n + 1n);
    } else if (first < part.next) {
      past.width = (part.next - first + 1n) / 2n;
    } else {
      // Older blocks may be gone at the node; without the newest nothing is known.
      return part.next === parts.search.recent?.to ? 'no history' : 'none';
    }
  }
}

const larger = (one: bigint, other: bigint) => (one > other ? one : other);
const lesser = (one: bigint, other: bigint) => (one < other ? one : other);

/** Compares the mints that were told already, one after the other. */
async function comparePending({ context, comparison, matches }: Parts, part: Stretch) {
  let compared = 0;
  try {
    for await (const found of compareInTurn(comparison, part.mints)) {
      compared += 1;
      if (found === undefined || !matches(found)) continue;
      if (!(await isStillWatched(context.db, found))) return found;
    }
    return undefined;
  } finally {
    part.mints = part.mints.slice(compared);
  }
}

/**
 * Whether a mint that its row does not tell is of a transaction that the database knows: a reorganisation has brought
 * it back, or it was mined since the row was read.
 */
const isStillWatched = async (db: LaneContext['db'], { kind, event }: Disagreement): Promise<boolean> =>
  kind === 'not_recorded' && event !== undefined && isOwnAttempt(db, event.hash);

/** The first block that is searched: that of the contract, once the node does not give the whole range at once. */
async function lowestOf({ ask, comparison, context, search }: Parts, part: Stretch): Promise<bigint> {
  const { db, memory, node } = context;
  const { chainId, contract } = comparison;
  const isWide = part.next - part.from >= memory.past.width;
  if (part === search.final && isWide && search.origin === undefined) {
    const { origins } = memory.evidence;
    const bisection = origins.get(contract) ?? remember(origins, contract, createBisection(part.to));
    try {
      const found = await findOrigin({ db, node, chainId, contract, ask, bisection, newest: part.to });
      search.origin = found ?? part.from;
    } catch (error) {
      // A node without old state fails as one that is gone does; of the latter the next question tells.
      if (context.stopping.aborted || !isOfNode(error)) throw error;
      search.origin = part.from;
    }
  }
  return larger(part.from, search.origin ?? part.from);
}

/** @returns `refused` when the node answers with an error; an outage rejects */
async function askOrNarrow(
  { ask, comparison, context }: Parts,
  range: HistoryRange,
): Promise<readonly MintEvent[] | 'refused'> {
  try {
    return await ask(() => context.node.allMintsIn(comparison.contract, range));
  } catch (error) {
    if (isRefusal(error, context)) return 'refused';
    throw error;
  }
}

const isRefusal = (error: unknown, { stopping }: LaneContext): boolean =>
  !stopping.aborted && isOfNode(error) && !(error instanceof NodesUnavailableError);
