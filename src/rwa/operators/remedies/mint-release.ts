import { inTransaction } from '../../../db/connection/transaction.ts';
import type { MintState } from '../../assets/nft-row.ts';
import { deleteMintNotes } from '../../minting/mint-note-store.ts';
import { lockTokens } from '../../minting/mint-repair-store.ts';
import { releaseNfts } from '../../minting/mint-state-store.ts';
import { findMint, findOwner, judgeMint, mintInWords, type Proving } from './mint-proof.ts';
import { recordMint } from './mint-record.ts';
import { askOut, closeReleased, type RequestedMint, wakeLanes } from './mint-remedy-store.ts';

/**
 * What became of an NFT that was to be released:
 * - `asked`: its lane signs the transaction again without it, at the same nonce;
 * - `minted`: it was minted already, and its row says so now;
 * - any other state: this transaction has not minted it, and that is what its row says now.
 */
export type Released = 'asked' | MintState;

type Refused = { readonly refusal: string };

/**
 * Takes an NFT out of its transaction. Of one in flight, when the chain has used its nonce no more than the database
 * knows; of one that has ended, when the whole history of the contract shows what became of the token.
 * @throws when no node answers, or gives no history: then nothing has changed
 */
export async function releaseMint(proving: Proving, mint: RequestedMint): Promise<Released | Refused> {
  const { nftId, transaction } = mint;
  if (mint.state !== 'submitted' || transaction === null) {
    return { refusal: `NFT ${nftId} is in no transaction. See: tallystick mint list` };
  }
  if (transaction.state === 'submitted') return leaveOut(proving, mint, transaction);
  if (transaction.state === 'confirmed')
    return { refusal: `The transaction of NFT ${nftId} is mined: ${wait}` };
  return settle(proving, mint, transaction.id);
}

const wait = 'the worker proves the outcome when that is final.';

type Transaction = NonNullable<RequestedMint['transaction']>;

async function leaveOut(
  { db, node, onChange }: Proving,
  { contract, nftId }: RequestedMint,
  { hashes, id, nonce, signer }: Transaction,
): Promise<Released | Refused> {
  const count = await node.transactionCount(signer, 'latest');
  if (count > BigInt(nonce)) return { refusal: `Nonce ${nonce} is used on the chain: ${wait}` };
  for (const hash of hashes) {
    if ((await node.receipt(hash, contract)) !== null) {
      return { refusal: `Its transaction ${hash} is mined: ${wait}` };
    }
  }
  const isAsked = await askOut(db, { nftId, transactionId: id }, (tx) => onChange(tx, { state: 'asked' }));
  return isAsked ? 'asked' : { refusal: `The transaction of NFT ${nftId} has ended: ${wait}` };
}

async function settle(
  proving: Proving,
  mint: RequestedMint,
  transactionId: string,
): Promise<Released | Refused> {
  const { contract, isReplaced, nftId, tokenId } = mint;
  const event = await findMint(proving, mint);
  if (event !== undefined) {
    const { kind, time } = await judgeMint(proving, mint, event);
    const about = `Token ${tokenId} was minted ${mintInWords(event)}`;
    if (kind === 'open') return { refusal: `${about}, which is not final yet. Try again when it is.` };
    if (kind === 'own') return (await recordMint(proving, mint, { event, time })).state;
    if (!isReplaced)
      return { refusal: `${about}, not for this NFT. Give it another: tallystick mint replace ${nftId}` };
  }
  const owner = event === undefined ? await findOwner(proving.node, mint) : undefined;
  if (owner !== undefined) {
    return {
      refusal: `Token ${tokenId} belongs to ${owner}, though no event tells of its mint. Ask another node: --rpc <url>`,
    };
  }
  return inTransaction(proving.db, async (tx) => {
    await lockTokens(tx, { chainId: proving.network.chainId, contract }, [tokenId]);
    if (!(await closeReleased(tx, nftId, transactionId)))
      return { refusal: `The outcome of NFT ${nftId} was settled meanwhile.` };
    await deleteMintNotes(tx, [nftId]);
    const [state = 'queued'] = await releaseNfts(tx, transactionId, [nftId]);
    await wakeLanes(tx);
    await proving.onChange(tx, { state });
    return state;
  });
}
