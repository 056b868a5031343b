import { readBlockNumber } from '../../../chain/rpc/transport/quantity.ts';

/** A node sent a malformed block, receipt or trace. The message names the field. */
export class MalformedBlockError extends Error {
  constructor(field: string, value: unknown) {
    super(`${field} is malformed: ${JSON.stringify(value)?.slice(0, 100) ?? 'absent'}`);
    this.name = 'MalformedBlockError';
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown, field: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MalformedBlockError(field, value);
  }
  return value as Fields; // an object that is no array has named fields of unknown types
}

export function listOf(value: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedBlockError(field, value);
  return value;
}

const quantityForm = /^0x[0-9a-f]{1,64}$/i;

/** Parses a JSON-RPC quantity. @throws MalformedBlockError */
export function quantityOf(value: unknown, field: string): bigint {
  if (typeof value === 'string' && quantityForm.test(value)) return BigInt(value);
  // Some nodes write no digits for zero, no prefix, or a JSON number.
  if (value === '0x' || value === '0') return 0n;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw new MalformedBlockError(field, value);
}

/** Parses the number of a block. @throws MalformedBlockError */
export function blockNumberOf(value: unknown, field: string): bigint {
  const number = readBlockNumber(value);
  if (number === undefined) throw new MalformedBlockError(field, value);
  return number;
}

/** Parses a JSON-RPC quantity that may be missing, null or an empty text. @throws MalformedBlockError */
export function optionalQuantity(value: unknown, field: string): bigint | undefined {
  return value === undefined || value === null || value === '' ? undefined : quantityOf(value, field);
}

const hexForm = /^0x[0-9a-f]*$/i;
const isHex = (value: string): boolean => hexForm.test(value);

export function addressOfWord(value: unknown, field: string): string {
  if (typeof value === 'string' && value.length === 42 && isHex(value)) return value.toLowerCase();
  throw new MalformedBlockError(field, value);
}

export function optionalAddress(value: unknown, field: string): string | null {
  return isNone(value) ? null : addressOfWord(value, field);
}

// Some nodes write no address as an empty text, as 0x or as a zero, or leave it out.
const noAddresses = new Set<unknown>([undefined, null, '', '0x', '0x0']);
const isNone = (value: unknown) => noAddresses.has(value);

export function hashOf(value: unknown, field: string): string {
  if (typeof value === 'string' && value.length === 66 && isHex(value)) return value.toLowerCase();
  throw new MalformedBlockError(field, value);
}

export function bytesOf(value: unknown, field: string): string {
  if (value === '' || value === '0x0') return '0x';
  if (typeof value === 'string' && value.length % 2 === 0 && isHex(value)) return value;
  throw new MalformedBlockError(field, value);
}
