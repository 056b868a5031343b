/* What a link to this page holds. Pure: the browser gives the parts of its address. */

import { decode, invisible } from '../shared/fragment.js';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// Every secret has had this form: 24 bytes in base64url. Messengers add what follows a link, such as `)` or `_`.
const secretWord = /^([\w-]{32})[_-]*$/;
/**
 * Reads the id of the NFT from the path and the secret from the fragment, whatever stands around the secret.
 * @returns `{ nftId, secret }`; `{ isBare: true }` for the address of the page alone; `{}` when a part is missing
 */
export function readLink({ pathname, hash }) {
  const nftId = pathname.slice(pathname.lastIndexOf('/') + 1);
  if (nftId === '' || nftId === 'claim') return { isBare: true };
  const secret = findSecret(hash.slice(1));
  return uuid.test(nftId) && secret !== undefined ? { nftId, secret } : {};
}

/** Finds the secret in a fragment. @returns undefined when nothing there can be one */
export function findSecret(fragment) {
  const text = decode(fragment);
  // A link that was broken over two lines has a space inside.
  for (const each of [text, text.replace(invisible, '')]) {
    for (const word of each.split(/[^\w-]+/)) {
      const found = secretWord.exec(word);
      if (found) return found[1];
    }
  }
  return undefined;
}
