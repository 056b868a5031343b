import { blockOfMint } from '../../../chain/minting/block-of-mint.ts';
import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import type { BlockRange } from '../../../chain/minting/log-scan.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import { NodeFault } from '../../../chain/rpc/transport/node-fault.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { MintState } from '../../assets/nft-row.ts';
import {
  type ContractId,
  hasLaterNonce,
  isOwnAttempt,
  listTokenRows,
  listUnseenMinted,
} from './token-row-store.ts';
import {
  agrees,
  type DisagreementKind,
  describeDisagreement,
  judgeToken,
  type TokenFacts,
  type TokenRow,
} from './token-verdict.ts';

/** A token of which chain and rows do not say the same. */
export type Disagreement = {
  readonly kind: DisagreementKind;
  readonly tokenId: string;
  readonly nftId: string | null;
  /** Of the NFT; null without one. */
  readonly nftState: MintState | null;
  /** In words. */
  readonly detail: string;
  readonly event?: MintEvent;
  readonly facts?: TokenFacts;
};

/** The mints of a range of blocks. */
export type MintPage = BlockRange & { readonly mints: readonly MintEvent[] };

/** What a comparison asks: the rows, the chain, and which accounts are signers of ours. */
export type Comparison = ContractId & {
  readonly db: Database;
  readonly node: Pick<MintNode, 'block' | 'transaction' | 'ownerOf'>;
  /** EIP-55. */
  readonly signers: ReadonlySet<string>;
  /** The number of the newest final block. */
  readonly finalized: bigint;
};

/**
 * Compares the mints of a range of blocks with the rows, both ways. Each disagreement costs questions.
 * @param isEnough whether nothing more is to be found after this one
 * @throws when a node does not answer
 */
export async function comparePage(
  comparison: Comparison,
  page: MintPage,
  isEnough: (found: Disagreement) => boolean = () => false,
): Promise<Disagreement[]> {
  const found: Disagreement[] = [];
  for await (const each of compareMints(comparison, page.mints)) {
    found.push(each);
    if (isEnough(each)) return found;
  }
  const seen = page.mints.map(({ tokenId }) => tokenId);
  return [...found, ...(await findMissingTokens(comparison, page, seen))];
}

/** Compares mints with the rows of their tokens, one by one. @returns what disagrees */
export async function* compareMints(
  comparison: Comparison,
  mints: readonly MintEvent[],
): AsyncGenerator<Disagreement> {
  const tokenIds = mints.map(({ tokenId }) => tokenId);
  const rows = Map.groupBy(
    await listTokenRows(comparison.db, comparison, tokenIds),
    ({ tokenId }) => tokenId,
  );
  const factsOf = createFactFinder(comparison);
  for (const event of mints) {
    const ofToken = rows.get(event.tokenId);
    // An id that no NFT can have is none of ours.
    const isAgreed = ofToken === undefined || agrees(event, ofToken);
    const found = isAgreed ? undefined : judgeEvent(event, ofToken, await factsOf(event));
    if (found !== undefined) yield found;
  }
}

/** The verdict on rows that may have changed since the facts were found. */
export function judgeEvent(
  event: MintEvent,
  rows: readonly TokenRow[],
  facts: TokenFacts,
): Disagreement | undefined {
  const kind = judgeToken(event, rows, facts);
  if (kind === undefined) return undefined;
  const { id: nftId = null, state: nftState = null } = rows[0]?.nft ?? {};
  const { tokenId } = event;
  const detail = describeDisagreement(kind, event, facts);
  return { kind, tokenId, nftId, nftState, detail, event, facts };
}

// A reorganisation moves a few mints to other blocks. Where more events are missing, the node does not show what it has. Each
// costs two questions, and a poll has a bound of questions.
const mostElsewhere = 30;

/**
 * Finds NFTs that are minted in these blocks according to their rows, and whose tokens do not exist.
 * @throws NodeFault when the node shows owners of many tokens, and no events of their mints
 */
export async function findMissingTokens(
  { db, node, finalized, ...id }: Comparison,
  range: { readonly from: bigint; readonly to: bigint | undefined },
  seenTokenIds: readonly string[],
): Promise<Disagreement[]> {
  const unseen = await listUnseenMinted(db, id, range, seenTokenIds);
  const found: Disagreement[] = [];
  let elsewhere = 0;
  for (const { nftId, tokenId } of unseen) {
    // One that has an owner was minted in another block, where its event is compared.
    if ((await node.ownerOf(id.contract, tokenId, finalized)) !== null) {
      elsewhere += 1;
      if (elsewhere < mostElsewhere) continue;
      const what = `${elsewhere} tokens of ${id.contract} have owners and no events of their mints, such as ${tokenId}`;
      throw new NodeFault('malformed', what);
    }
    const kind = 'no_token';
    found.push({ kind, tokenId, nftId, nftState: 'minted', detail: describeDisagreement(kind) });
  }
  return found;
}

/** NFTs that are minted according to their rows, on a contract that does not exist. */
export async function findOfNoContract({ db, ...id }: Comparison): Promise<Disagreement[]> {
  const unseen = await listUnseenMinted(db, id, { from: 0n, to: undefined }, []);
  const kind = 'no_token';
  return unseen.map((row) => ({ ...row, kind, nftState: 'minted', detail: describeDisagreement(kind) }));
}

/**
 * Asks each block and each transaction once.
 * @throws NodeFault when an event is of another chain than its block, or the node does not show who sent its transaction
 */
function createFactFinder(comparison: Comparison): (event: MintEvent) => Promise<TokenFacts> {
  const { node } = comparison;
  const times = new Map<string, Date>();
  const senders = new Map<string, Omit<TokenFacts, 'time'>>();
  return async (event) => {
    const { blockHash, hash } = event;
    const time = times.get(blockHash) ?? (await blockOfMint(node, event)).time;
    times.set(blockHash, time);
    const sent = senders.get(hash) ?? (await findSender(comparison, hash));
    senders.set(hash, sent);
    return { time, ...sent };
  };
}

async function findSender(
  { db, node, signers, chainId }: Comparison,
  hash: string,
): Promise<Omit<TokenFacts, 'time'>> {
  const sent = await node.transaction(hash);
  const isStored = await isOwnAttempt(db, hash);
  if (sent === null && !isStored)
    throw new NodeFault('malformed', `it shows a mint in transaction ${hash}, and not who sent that`);
  const isOwn = isStored || (sent !== null && signers.has(sent.from));
  const isOfOthers = isOwn && !isStored && sent !== null && (await hasLaterNonce(db, chainId, sent));
  return { sender: sent?.from ?? null, isOwn, isStored, isOfOthers };
}

/**
 * Whether a disagreement shows that the chain has a past of ours which the database does not have. What a stored transaction
 * minted is none, since a contract may mint what nobody asked for. One whose transaction is being watched is none: its row follows.
 */
export function isLostPast({ kind, nftState, facts }: Disagreement): boolean {
  if (facts?.isOwn !== true || facts.isStored) return false;
  if (kind === 'not_recorded') return nftState !== 'submitted';
  return kind === 'no_row' || kind === 'unknown_asset';
}

/** Whether an earlier recovery, up to this block, has reported a token for which no row can be made. */
export function isToldOf(recoveredTo: bigint | null, { kind, event }: Disagreement): boolean {
  const isWithoutRow = kind === 'unknown_asset' || kind === 'foreign';
  return isWithoutRow && event !== undefined && recoveredTo !== null && event.blockNumber <= recoveredTo;
}
