/*
 * Reads the address of a wallet from whatever a person pastes. Pure. The whole text decides: nothing is cut off, and
 * what is not understood is explained. A text that may be a private key leaves this module as the name of a fault only.
 */

import { chainIdOf, chainNameOf } from './chains.js';

const invisible = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;
const address = /^(?:0x)?([0-9a-f]{40})$/i;
const hash = /(?:^|[^0-9a-f])(?:0x)?[0-9a-f]{64}(?![0-9a-f])/i;
const addressInside = /(?:^|[^0-9a-f])(?:0x)?[0-9a-f]{40}(?![0-9a-f])/i;
// Nobody has the key of an address so low: the zero address, precompiles, and the one that tokens are burnt to.
const reserved = /^0x0{36}/;

/**
 * @param nft `{ chainId, contractAddress }` of the NFT that the address shall get
 * @returns `{ address }`, which is 0x and 40 digits as they were written; or `{ fault, values }`, where the fault is the
 *   name of a text and the values fill its placeholders
 */
export function readAddress(text, { chainId, contractAddress }) {
  const compact = text.replace(invisible, '');
  if (compact === '') return { fault: 'addressEmpty' };
  if (hash.test(compact)) return { fault: 'addressHash' };
  if (isPhrase(text)) return { fault: 'addressPhrase' };
  const { fault, rest, chain = chainId } = readScheme(compact);
  if (fault !== undefined) return { fault };
  const found = address.exec(rest);
  if (found === null) return explain(rest);
  const read = `0x${found[1]}`;
  if (chain !== chainId) {
    return { fault: 'addressOtherChain', values: { chain: chainNameOf(chain), chainId: chain } };
  }
  if (reserved.test(read)) return { fault: 'addressReserved' };
  if (read.toLowerCase() === contractAddress.toLowerCase()) return { fault: 'addressContract' };
  return { address: read };
}

/** Whether the letters of an address have both cases, which then are its checksum. */
export const hasChecksum = (text) => /[a-f]/.test(text.slice(2)) && /[A-F]/.test(text.slice(2));

/** Whether it is a recovery phrase: twelve words or more. */
function isPhrase(text) {
  // Wallets number the words.
  const words = text.split(/[\s,;.:)\d]+/).filter((word) => word !== '');
  return words.length >= 12 && words.every((word) => /^\p{L}{2,}$/u.test(word));
}

/** Takes off `ethereum:` (EIP-681), `eip155:<chain>:` (CAIP-10) and short names such as `eth:` (EIP-3770). */
function readScheme(text) {
  const [, scheme = '', rest = text] = /^([a-z][a-z0-9-]*):(.*)$/i.exec(text) || [];
  const name = scheme.toLowerCase();
  if (name === '') return { rest };
  if (name === 'ethereum') {
    const [, body, , chain, more] = /^(?:\/\/)?(?:pay-)?([^@/?]*)(@([^/?]*))?(.*)$/i.exec(rest);
    if (more !== '') return { fault: 'addressPayment' };
    return chain === undefined ? { rest: body } : atChain(chain, body);
  }
  if (name === 'eip155') {
    const [, chain = '', body = ''] = /^([^:]*):(.*)$/.exec(rest) || [];
    return atChain(chain, body);
  }
  if (name === 'http' || name === 'https') return { fault: 'addressLink' };
  const chain = chainIdOf(name);
  if (chain !== undefined) return { rest, chain };
  return { fault: addressInside.test(rest) ? 'addressSurrounded' : 'addressOtherCoin' };
}

const atChain = (chain, rest) =>
  /^(\d{1,15}|0x[0-9a-f]{1,12})$/i.test(chain)
    ? { rest, chain: Number(chain) }
    : { fault: 'addressSurrounded' };

const otherCoins = [
  // Bech32 of Bitcoin and others, and base58 of Bitcoin, Solana, Tron and others.
  /^[a-z]{2,12}1[02-9ac-hj-np-z]{20,}$/i,
  /^[1-9A-HJ-NP-Za-km-z]{25,90}$/,
];

/** Says why a text without invisible characters is no address. */
function explain(text) {
  if (/^[^@]+@[^@.]+\.[^@]+$/.test(text)) return { fault: 'addressMail' };
  if ((text.match(/0x[0-9a-f]{40}/gi) || []).length > 1) return { fault: 'addressSeveral' };
  // The letter O, which looks like the zero that it should be.
  if (/^ox/i.test(text)) return { fault: 'addressCharacter', values: { character: text[0] } };
  if (addressInside.test(text)) return { fault: 'addressSurrounded' };
  if (/^[^.]+(\.[^.]+)*\.\p{L}{2,}$/u.test(text)) return { fault: 'addressName' };
  if (/^XE\d\d[0-9A-Z]{30,31}$/i.test(text)) return { fault: 'addressOld' };
  const digits = digitsOf(text);
  if (digits === undefined) {
    return { fault: otherCoins.some((form) => form.test(text)) ? 'addressOtherCoin' : 'addressNone' };
  }
  const wrong = digits.find((digit) => !/^[0-9a-f]$/i.test(digit));
  if (wrong !== undefined) return { fault: 'addressCharacter', values: { character: wrong } };
  return {
    fault: digits.length < 40 ? 'addressShort' : 'addressLong',
    values: { count: digits.length },
  };
}

/** The characters behind `0x` of what was meant as an address; undefined for what does not look like one. */
function digitsOf(text) {
  // Digits of another width are for a person the same.
  const plain = text.normalize('NFKC');
  if (/^0x/i.test(plain)) return [...(/^0x/i.test(text) ? text.slice(2) : text)];
  const characters = [...text];
  const hex = [...plain].filter((each) => /^[0-9a-f]$/i.test(each)).length;
  return characters.length >= 30 && hex >= characters.length * 0.8 ? characters : undefined;
}
