/** Parses a JSON-RPC quantity such as `0x1a`. @returns undefined for anything else and for more than 256 bits */
export function readQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
}

/** Writes a JSON-RPC quantity: `26n` becomes `0x1a`. */
export function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
