import { getAddress } from 'ethers';
import { problem } from '../base/errors.ts';
import type { InputError } from '../base/problem.ts';

/** Where an address stands in a request: a named parameter, or a JSON pointer into the body. */
export type AddressPlace =
  | { readonly in: 'path' | 'query' | 'header'; readonly name: string }
  | { readonly in: 'body'; readonly pointer: string };

/** An address in the two forms that we write: lower case, and EIP-55 with the checksum in the letters' case. */
export type Address = { readonly lower: string; readonly checksum: string };

const form = /^0x[0-9a-fA-F]{40}$/;

/**
 * Converts an address to EIP-55. Accepts `0x` and 40 hex digits in lower case, upper case, or mixed case with a valid
 * checksum.
 * @returns undefined for any other text
 */
export function checksumAddress(text: string): string | undefined {
  if (!form.test(text)) return undefined;
  const digits = text.slice(2);
  const checksum = checksumOf(text.toLowerCase());
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return mixed && checksum !== text ? undefined : checksum;
}

const known = new Map<string, string>();
const mostKnown = 10_000;

/** Keeps checksums: one costs a keccak, and callers come again with the same wallets and contracts. */
function checksumOf(lower: string): string {
  const found = known.get(lower);
  if (found !== undefined) return found;
  if (known.size >= mostKnown) known.clear();
  const checksum = getAddress(lower);
  known.set(lower, checksum);
  return checksum;
}

/** Returns what is wrong with an address in a request, or undefined. */
export function addressFault(text: string, place: AddressPlace): InputError | undefined {
  const isForm = form.test(text);
  // In lower case there is no checksum that could be wrong.
  if (isForm && (text === text.toLowerCase() || checksumAddress(text) !== undefined)) return undefined;
  const name = place.in === 'body' ? place.pointer.slice(place.pointer.lastIndexOf('/') + 1) : place.name;
  const fault = isForm ? 'has a wrong EIP-55 checksum' : `must be 0x and 40 hex digits`;
  return { ...place, message: `${name} ${fault}` };
}

/**
 * Reads an address that a caller sent.
 * @throws problem `input_invalid` with the address's place in the request
 */
export function parseAddress(text: string, place: AddressPlace): Address {
  const checksum = checksumAddress(text);
  if (checksum !== undefined) return { lower: text.toLowerCase(), checksum };
  const fault = addressFault(text, place);
  throw problem('input_invalid', {}, fault && { detail: fault.message, errors: [fault] });
}

/** The zero address: transfers from it are mints, and ERC-721 contracts mint nothing to it. */
export const zeroAddress = '0x0000000000000000000000000000000000000000';

export const isZeroAddress = (address: string): boolean => address === zeroAddress;

/**
 * Whether it is one of the lowest 65,536 addresses. Nobody can have the key of such an address, and networks have
 * contracts of their own there: Ethereum's precompiles 0x01 to 0x11 and 0x100, BNB's 0x1000 to 0x2005, zkSync's 0x8001
 * to 0x80ff.
 */
export const isReservedAddress = (address: string): boolean => /^0x0{36}[0-9a-fA-F]{4}$/.test(address);
