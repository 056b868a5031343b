/** A node sent a malformed block, receipt or trace. The message names the field. */
export class MalformedBlockError extends Error {
  readonly retryable = true;

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
  throw new MalformedBlockError(field, value);
}

/** Parses a JSON-RPC quantity that may be missing or null. @throws MalformedBlockError */
export function optionalQuantity(value: unknown, field: string): bigint | undefined {
  return value === undefined || value === null ? undefined : quantityOf(value, field);
}

/** Parses an index within a block: a quantity below 2^31. @throws MalformedBlockError */
export function indexOf(value: unknown, field: string): number {
  const index = quantityOf(value, field);
  if (index >= 2n ** 31n) throw new MalformedBlockError(field, value);
  return Number(index);
}

const addressForm = /^0x[0-9a-f]{40}$/i;
const hashForm = /^0x[0-9a-f]{64}$/i;
const bytesForm = /^0x([0-9a-f]{2})*$/i;

export function addressOf(value: unknown, field: string): string {
  if (typeof value === 'string' && addressForm.test(value)) return value.toLowerCase();
  throw new MalformedBlockError(field, value);
}

export function optionalAddress(value: unknown, field: string): string | null {
  // Some nodes write the address of no created contract as 0x or leave it out.
  return value === undefined || value === null || value === '0x' ? null : addressOf(value, field);
}

export function hashOf(value: unknown, field: string): string {
  if (typeof value === 'string' && hashForm.test(value)) return value.toLowerCase();
  throw new MalformedBlockError(field, value);
}

export function bytesOf(value: unknown, field: string): string {
  if (typeof value === 'string' && bytesForm.test(value)) return value;
  throw new MalformedBlockError(field, value);
}
