import { inTransaction } from '../../../db/connection/transaction.ts';
import { requeueFailedNft } from '../../minting/mint-state-store.ts';
import { findMint, findOwner, judgeMint, mintInWords, type Proving } from './mint-proof.ts';
import { recordMint } from './mint-record.ts';
import { type RequestedMint, wakeLanes } from './mint-remedy-store.ts';
import { type Replaced, replaceTaken } from './mint-replace.ts';

/** What became of a failed mint: queued again, minted already, or queued with another token. */
export type Retried = { readonly state: 'queued' | 'minted' } | Replaced;

/**
 * Queues a failed mint again, for the same recipient. The mint event of its token decides, never its present owner: without an
 * event it is queued; if the recipient got it, the row says so; if somebody else got it, the NFT gets another token.
 * @returns what was done, or why nothing was, in words
 * @throws when no node answers, or gives no history: then nothing has changed
 */
export async function retryMint(proving: Proving, mint: RequestedMint): Promise<Retried | string> {
  const { tokenId } = mint;
  const event = await findMint(proving, mint);
  if (event === undefined) {
    const owner = await findOwner(proving.node, mint);
    if (owner === undefined) return queueAgain(proving, mint);
    return `Token ${tokenId} belongs to ${owner}, though no event tells of its mint. Ask another node: --rpc <url>`;
  }
  const { kind, time } = await judgeMint(proving, mint, event);
  if (kind === 'open')
    return `Token ${tokenId} was minted ${mintInWords(event)}, which is not final yet. Try again when it is.`;
  if (kind === 'own') return recordMint(proving, mint, { event, time });
  return replaceTaken(proving, mint, event);
}

function queueAgain({ db, onChange }: Proving, { nftId }: RequestedMint): Promise<Retried | string> {
  return inTransaction(db, async (tx) => {
    if (!(await requeueFailedNft(tx, nftId))) return notFailed(nftId);
    await wakeLanes(tx);
    await onChange(tx, { state: 'queued' });
    return { state: 'queued' };
  });
}

export const notFailed = (nftId: string): string =>
  `No NFT ${nftId} has failed. See: tallystick mint list --state failed`;
