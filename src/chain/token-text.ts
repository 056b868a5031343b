import { bytesAt, hexAt, lengthAt, sizeOf } from './words.ts';

// Longer names are advertisements or attacks, and too long to stand next to an amount.
const maxNameLength = 256;
const word = 32;
// UTF-8 has three for a unit of UTF-16 at most; the rest is for NUL at the end, with which some fill up.
const bytesOfUnit = 4;

/**
 * Decodes a token's answer for its name or symbol: an ABI string, or bytes32 as in the earliest tokens.
 * @param data the answer's bytes in hex, as `callContract` returns them. No more is decoded than a text may have
 * @param maxLength in UTF-16 units
 * @returns null for anything else: a bad encoding, invalid UTF-8, an empty text, or one longer than the maximum
 */
export function readTokenText(data: string, maxLength = maxNameLength): string | null {
  const bytes = sizeOf(data) === word ? bytes32(data) : abiString(data, maxLength * bytesOfUnit);
  if (bytes === undefined) return null;
  const text = decodeUtf8(bytes)?.replaceAll('\0', '') ?? '';
  return text === '' || text.length > maxLength ? null : text;
}

// Text in bytes32 is padded with zeros at its end.
function bytes32(data: string): Uint8Array {
  const bytes = Buffer.from(hexAt(data, 0, word), 'hex');
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

/** The contract chose every offset and length, so each is checked against the size of the answer before its use. */
function abiString(data: string, mostBytes: number): Uint8Array | undefined {
  const start = lengthAt(data, 0);
  const text = start === undefined ? undefined : bytesAt(data, start, mostBytes);
  return text === undefined ? undefined : Buffer.from(text, 'hex');
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
