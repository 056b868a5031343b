import { dataLength, dataSlice, getBytes } from 'ethers';

// Longer names are advertisements or attacks, and too long to show beside an amount.
const maxNameLength = 256;
const word = 32;

/**
 * Decodes a token's answer for its name or symbol: an ABI string, or bytes32 as in the earliest tokens.
 * @param data the answer's bytes in hex
 * @param maxLength in UTF-16 units
 * @returns null for anything else: a bad encoding, invalid UTF-8, an empty text, or one longer than the maximum
 */
export function readTokenText(data: string, maxLength = maxNameLength): string | null {
  const bytes = dataLength(data) === word ? bytes32(data) : abiString(data);
  if (bytes === undefined) return null;
  const text = decodeUtf8(bytes)?.replaceAll('\0', '') ?? '';
  return text === '' || text.length > maxLength ? null : text;
}

// Text in bytes32 is padded with zeros at its end.
function bytes32(data: string): Uint8Array {
  const bytes = getBytes(data);
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

/** The contract chose every offset and length, so each is checked against the size of the answer before its use. */
function abiString(data: string): Uint8Array | undefined {
  const size = dataLength(data);
  const start = numberAt(data, 0, size);
  if (start === undefined) return undefined;
  const length = numberAt(data, start, size);
  if (length === undefined) return undefined;
  const from = start + word;
  return from + length <= size ? getBytes(dataSlice(data, from, from + length)) : undefined;
}

function numberAt(data: string, offset: number, size: number): number | undefined {
  if (offset + word > size) return undefined;
  const value = BigInt(dataSlice(data, offset, offset + word));
  return value <= BigInt(size) ? Number(value) : undefined;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
