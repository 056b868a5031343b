/*
 * The addresses that this browser claimed for, so that its reader is told "it is yours" and others are not. No secret.
 * There may be several: an answer can get lost, and another address be tried, although the first was accepted.
 */

const sent = new Map();
const nameOf = (nftId) => `claimed ${nftId}`;

export function noteSent(nftId, address) {
  const all = [...sentFor(nftId), address.toLowerCase()].join(' ');
  sent.set(nftId, all);
  try {
    localStorage.setItem(nameOf(nftId), all);
  } catch {
    // Where nothing may be stored, a reload reads as a visit of somebody else.
  }
}

/** Whether this browser asked for the NFT to go to this recipient. */
export const wasSent = (nftId, recipient) =>
  recipient !== null && sentFor(nftId).includes(recipient.toLowerCase());

function sentFor(nftId) {
  let stored = null;
  try {
    stored = localStorage.getItem(nameOf(nftId));
  } catch {
    // As above.
  }
  const all = stored ?? sent.get(nftId) ?? '';
  return all === '' ? [] : all.split(' ');
}
