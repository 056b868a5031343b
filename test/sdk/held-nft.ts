import assert from 'node:assert/strict';
import { live } from './live.js';

/** An NFT that nobody has claimed, as whoever scans its code has it. Its RWA must have opted in to claims. */
export async function heldNft(): Promise<{ readonly nftId: string; readonly secret: string }> {
  const { origin } = new URL(live.baseUrl);
  const answer = await fetch(`${origin}/v1/api/nft?claimed=false&limit=1`, {
    headers: { 'x-api-key': live.key },
  });
  const [nft]: { id: string; secret: string }[] = await answer.json();
  assert(nft, 'The company of the key has no NFT that is not minted.');
  return { nftId: nft.id, secret: nft.secret };
}
