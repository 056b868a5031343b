/* Which address this tab claimed for, so that its reader is told "it is yours" and a later visitor is not. No secret. */

const sent = new Map();
const nameOf = (nftId) => `claimed ${nftId}`;

export function noteSent(nftId, address) {
  sent.set(nftId, address.toLowerCase());
  try {
    sessionStorage.setItem(nameOf(nftId), address.toLowerCase());
  } catch {
    // Where nothing may be stored, a reload reads as a later visit.
  }
}

/** Whether this tab asked for the NFT to go to this recipient. */
export function wasSent(nftId, recipient) {
  if (recipient === null) return false;
  try {
    const stored = sessionStorage.getItem(nameOf(nftId));
    if (stored !== null) return stored === recipient.toLowerCase();
  } catch {
    // As above.
  }
  return sent.get(nftId) === recipient.toLowerCase();
}
