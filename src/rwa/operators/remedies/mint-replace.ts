import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { deleteMintNotes } from '../../minting/mint-note-store.ts';
import { lockTokens, replaceTokenId } from '../../minting/mint-repair-store.ts';
import { keepOut, requeueFailedNft } from '../../minting/mint-state-store.ts';
import { stillInTransaction } from './mint-cancel.ts';
import { findMint, judgeMint, mintInWords, type Proving, whyAPersonDecides } from './mint-proof.ts';
import { findRequestedMint, isInFlight, type RequestedMint, wakeLanes } from './mint-remedy-store.ts';

/** An NFT whose token was replaced. */
export type Replaced = {
  readonly oldTokenId: string;
  /** `submitted` while an older transaction may still mint the old token. */
  readonly state: 'queued' | 'submitted';
  readonly serial: string;
  readonly tokenId: string;
  /** The owner of the old token, and since when. */
  readonly taken: string;
};

/**
 * Gives an NFT another token and queues it, when the chain shows for good that its own was minted to somebody else. The
 * serial stays.
 * @returns what was replaced, or why nothing was, in words
 * @throws when no node answers, or gives no history: then no NFT has changed
 */
export async function replaceToken(proving: Proving, mint: RequestedMint): Promise<Replaced | string> {
  const { nftId, state, tokenId } = mint;
  const event = await findMint(proving, mint);
  if (event === undefined) return `Nobody has minted token ${tokenId}: it needs no replacement.`;
  const { kind } = await judgeMint(proving, mint, event);
  const about = `Token ${tokenId} was minted ${mintInWords(event)}`;
  if (kind === 'open') return `${about}, which is not final yet. Try again when it is.`;
  if (kind === 'own')
    return `${about}, for this NFT. ${state === 'failed' ? `Record it: tallystick mint retry ${nftId}` : 'Its lane records it: wait.'}`;
  return replaceTaken(proving, mint, event);
}

/** Gives an NFT another token, whose own is somebody else's for good. @returns as {@link replaceToken} */
export async function replaceTaken(
  proving: Proving,
  mint: RequestedMint,
  event: MintEvent,
): Promise<Replaced | string> {
  const { db, network } = proving;
  const { contract, nftId, tokenId } = mint;
  const why = await whyAPersonDecides(proving, mint, event);
  if (why !== undefined) return why;
  const replaced = await inTransaction(db, async (tx) => {
    await lockTokens(tx, { chainId: network.chainId, contract }, [tokenId]);
    const present = await findRequestedMint(tx, nftId);
    // Only what was judged: somebody else's token may be that of the NFT since it was asked for again.
    if (present?.tokenId !== tokenId || present.recipient !== mint.recipient)
      return `The mint of NFT ${nftId} has changed meanwhile. See: tallystick mint show ${nftId}`;
    if (isInFlight(present)) return undefined;
    const ids = await replaceTokenId(tx, nftId);
    if (ids === undefined) return undefined;
    if (present.state === 'failed') await requeueFailedNft(tx, nftId);
    await deleteMintNotes(tx, [nftId]);
    const kept = await keepOut(tx, [nftId]);
    await wakeLanes(tx);
    const state = kept.size > 0 ? ('submitted' as const) : ('queued' as const);
    const change = { state, oldTokenId: tokenId, ...ids, taken: mintInWords(event) };
    await proving.onChange(tx, change);
    return change;
  });
  return replaced ?? stillInTransaction(nftId);
}
