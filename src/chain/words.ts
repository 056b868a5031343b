/*
 * Contracts choose how long their answers are, up to half a megabyte. So a reader cuts its words out of the hex text,
 * and decodes nothing else. Answers have the form that `callContract` returns: whole bytes in hex.
 */

const wordBytes = 32;
const wordEnd = 2 + 2 * wordBytes;

/** The number of bytes of an answer. */
export const sizeOf = (data: string): number => (data.length - 2) / 2;

/** Reads the first 32 bytes of a contract's answer. @returns undefined where there are fewer, or there is none */
export function wordOf(data: string | null | undefined): bigint | undefined {
  return !data || data.length < wordEnd ? undefined : BigInt(data.slice(0, wordEnd));
}

/** Reads an address from a contract's answer, in lower case. */
export function accountOf(data: string | null | undefined): string | undefined {
  const word = wordOf(data);
  return word === undefined || word >= 2n ** 160n ? undefined : `0x${word.toString(16).padStart(40, '0')}`;
}

/** The first 32 bytes of an answer, to be kept: a part that is only sliced keeps the whole text in memory. */
export function firstWord(data: string | undefined): string | undefined {
  return data === undefined ? undefined : Buffer.from(data.slice(0, wordEnd), 'latin1').toString('latin1');
}

/**
 * Reads an offset or a length, which the contract chose.
 * @param offset in bytes
 * @returns undefined where the answer is shorter, or the number is larger than its size
 */
export function lengthAt(data: string, offset: number): number | undefined {
  const size = sizeOf(data);
  if (offset + wordBytes > size) return undefined;
  const value = BigInt(`0x${hexAt(data, offset, wordBytes)}`);
  return value <= BigInt(size) ? Number(value) : undefined;
}

/**
 * Cuts out ABI bytes: their length, and as many bytes.
 * @param offset where the length stands, in bytes
 * @returns hex without `0x`; undefined where they are not all there, or more than this many
 */
export function bytesAt(data: string, offset: number, most = Number.POSITIVE_INFINITY): string | undefined {
  const length = lengthAt(data, offset);
  if (length === undefined || length > most) return undefined;
  const from = offset + wordBytes;
  return from + length <= sizeOf(data) ? hexAt(data, from, length) : undefined;
}

/** A part of an answer in hex, without `0x`. Offset and length are in bytes. */
export const hexAt = (data: string, offset: number, length: number): string =>
  data.slice(2 + 2 * offset, 2 + 2 * (offset + length));
