import type { NoEvidence } from '../../context/inquiry.ts';
import type { TransactionNft } from '../../stores/transaction-nft-store.ts';
import { findEvidence, restBeforeRetry } from '../evidence/evidence.ts';
import type { Look } from '../evidence/look.ts';
import type { FailedNft, MintedNft, Outcomes } from './outcomes.ts';

/** An NFT whose outcome is not proven yet. */
export type WaitingNft = {
  readonly nft: TransactionNft;
  /** Why not; undefined when what is noted about it stays. */
  readonly note: NoEvidence | undefined;
};

/** What became of NFTs, as far as it is proven. */
export type ProvenOutcomes = { readonly outcomes: Outcomes; readonly waiting: readonly WaitingNft[] };

type Subject = { readonly id: string; readonly contract: string };

/**
 * Proves what became of NFTs that their transaction did not mint, at the newest final block. A token without an
 * owner and without a mint event can be sent again; one with an owner cannot. Where nothing of this is to be found out, the NFT waits.
 * @throws when the node answers nothing at all
 */
export async function proveOutcomes(
  look: Look,
  subject: Subject,
  nfts: readonly TransactionNft[],
): Promise<ProvenOutcomes> {
  const minted: MintedNft[] = [];
  const failed: FailedNft[] = [];
  const released: string[] = [];
  const waiting: WaitingNft[] = [];
  if (nfts.length > 0) {
    const depth = look.depthOf(look.finalized);
    const evidences = await findEvidence(look, subject, nfts, depth);
    for (const nft of nfts) {
      const { nftId } = nft;
      const evidence = evidences.get(nftId);
      if (evidence?.kind === 'minted') minted.push({ nftId, in: evidence.in });
      // It does not fail for a token that it has no more.
      else if (evidence?.kind === 'failed' && nft.isReplaced) released.push(nftId);
      else if (evidence?.kind === 'failed') failed.push({ nftId, reason: evidence.reason });
      else if (evidence?.kind === 'waits') waiting.push({ nft, note: evidence.note });
      else if (evidence?.kind === 'absent') {
        const note = await askOwner(look, subject, nft);
        if (note === undefined) released.push(nftId);
        else waiting.push({ nft, note });
        restBeforeRetry(look, nftId, note);
      } else if (evidence?.kind === 'unknown') {
        waiting.push({ nft, note: { reason: 'evidence_unavailable', detail: evidence.detail } });
      }
    }
  }
  if (waiting.length === 0) look.context.memory.searches.delete(subject.id);
  // So that the contract is checked before anything more is sent to it.
  if (waiting.some(({ note }) => note?.reason === 'contract_nonsense'))
    look.context.memory.costs.delete(subject.contract);
  return { outcomes: { minted, failed, released }, waiting };
}

/** Why a token without a mint event cannot be sent again; undefined when it can, because it has no owner. */
async function askOwner(
  { context, inquiry, head, finalized }: Look,
  { id, contract }: Subject,
  { tokenId }: TransactionNft,
): Promise<NoEvidence | undefined> {
  const { node } = context;
  const ownerAt = (block: bigint) => inquiry.ask(() => node.ownerOf(contract, tokenId, block));
  try {
    // A node without the state of the final block may have that of the newest block. A token without an owner there had
    // none before, since tokens are never burned. A node that lags does not have the block with this number.
    const owner = await ownerAt(finalized).catch(async (error: unknown) => {
      const { reason } = await inquiry.reasonOf(error);
      if (reason !== 'evidence_unavailable') throw error;
      return ownerAt(head.number);
    });
    if (owner === null) return undefined;
    // It was minted, though this node has not shown it: the next search begins again.
    context.memory.searches.delete(id);
    const detail = `Token ${tokenId} belongs to ${owner}, and the node shows no mint of it since the NFT was made.`;
    return { reason: 'evidence_unavailable', detail };
  } catch (error) {
    return inquiry.reasonOf(error);
  }
}
