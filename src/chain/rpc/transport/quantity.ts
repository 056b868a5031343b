/** Parses a JSON-RPC quantity such as `0x1a`. @returns undefined for anything else and for more than 256 bits */
export function readQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
}

// No chain has so many blocks in a thousand years. A node with such a number would be ahead of all others, and beyond
// the limit of a column.
const mostBlocks = 2n ** 40n;

/** Parses the number of a block. @returns undefined for anything else and for one that no block has */
export function readBlockNumber(value: unknown): bigint | undefined {
  const number = readQuantity(value);
  return number !== undefined && number < mostBlocks ? number : undefined;
}

// The last second of a year with four digits, which everything takes that takes dates.
const lastSecond = 253_402_300_799n;

/** Parses the time of a block, in seconds since 1970. @returns undefined for anything else and for one that no block has */
export function readBlockTime(value: unknown): Date | undefined {
  const seconds = readQuantity(value);
  return seconds !== undefined && seconds <= lastSecond ? new Date(Number(seconds) * 1_000) : undefined;
}

/** Writes a JSON-RPC quantity: `26n` becomes `0x1a`. */
export function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
