import { inTransaction } from '../../../db/connection/transaction.ts';
import { tokenPartsOf } from '../../assets/token-id.ts';
import { deleteMintNotes } from '../../minting/mint-note-store.ts';
import { farthest, lockTokens, raiseSerials, renumberNfts } from '../../minting/mint-repair-store.ts';
import { requeueFailedNft } from '../../minting/mint-state-store.ts';
import { stillInTransaction } from './mint-cancel.ts';
import { judgeMint, mintInWords, type Proving, readMints } from './mint-proof.ts';
import {
  findIds,
  findRequestedMint,
  isInFlight,
  type RequestedMint,
  wakeLanes,
} from './mint-remedy-store.ts';

/** An NFT whose token was replaced. */
export type Replaced = {
  readonly oldSerial: string;
  readonly oldTokenId: string;
  readonly serial: string;
  readonly tokenId: string;
  /** Who has the old token, and since when. */
  readonly taken: string;
};

/**
 * Gives an NFT another token and queues it, when the chain shows for good that its own was minted for somebody else: its
 * serial was squatted, or given before. The new serial is above all that the contract has minted.
 * @returns what was replaced, or why nothing was, in words
 * @throws when no node answers, or gives no history: then no NFT has changed
 */
export async function replaceToken(proving: Proving, mint: RequestedMint): Promise<Replaced | string> {
  const { db, network } = proving;
  const { contract, nftId, tokenId } = mint;
  const id = { chainId: network.chainId, contract };
  let last = tokenId;
  const event = await readMints(proving, mint, async ({ mints }) => {
    last = lastOfSameRwa([last, ...mints.map((each) => each.tokenId)], tokenId);
  });
  if (event === undefined) return `Nobody has minted token ${tokenId}: it needs no replacement.`;
  const { kind } = await judgeMint(proving, mint, event);
  const about = `Token ${tokenId} was minted ${mintInWords(event)}`;
  if (kind === 'open') return `${about}, which is not final yet. Try again when it is.`;
  if (kind === 'own')
    return `${about}, for this NFT. Its row follows, or record it: tallystick recover --apply`;
  const before = await findIds(db, nftId);
  const replaced = await inTransaction(db, async (tx) => {
    await lockTokens(tx, id, [tokenId]);
    const present = await findRequestedMint(tx, nftId);
    if (present === undefined || present.tokenId !== tokenId || isInFlight(present)) return undefined;
    await raiseSerials(tx, id, [last]);
    await renumberNfts(tx, [nftId]);
    if (present.state === 'failed') await requeueFailedNft(tx, nftId);
    await deleteMintNotes(tx, [nftId]);
    await wakeLanes(tx);
    const ids = await findIds(tx, nftId);
    const change = { oldSerial: before.serial, oldTokenId: tokenId, ...ids, taken: mintInWords(event) };
    await proving.onChange(tx, { state: 'queued', ...change });
    return change;
  });
  return replaced ?? stillInTransaction(nftId);
}

/** The one of these tokens with the highest serial of the RWA that the token is of, as far as serials are given at all. */
function lastOfSameRwa(tokenIds: readonly string[], own: string): string {
  const wanted = tokenPartsOf(own);
  let last = { tokenId: own, serial: wanted?.serial ?? 0n };
  for (const tokenId of tokenIds) {
    const parts = tokenPartsOf(tokenId);
    if (wanted === undefined || parts?.rwaNumber !== wanted.rwaNumber) continue;
    if (parts.serial > last.serial && parts.serial - wanted.serial < BigInt(farthest))
      last = { tokenId, serial: parts.serial };
  }
  return last.tokenId;
}
