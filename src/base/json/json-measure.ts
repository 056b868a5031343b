/** Whether objects and arrays are nested deeper than so many levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

const exponent = /\de-\d/;

/**
 * Bytes of a value as JSON text in UTF-8, in which numbers have no exponent, as PostgreSQL writes them: `5e-324` takes 326. Without that, one page
 * of such values would be 50 times as large on its way from the database as in the answer.
 * @throws RangeError when it is nested too deeply for the engine's stack
 */
export function jsonBytes(value: unknown): number {
  const text = JSON.stringify(value);
  return Buffer.byteLength(text) + (exponent.test(text) ? leftOutDigits(value) : 0);
}

function leftOutDigits(value: unknown): number {
  if (typeof value === 'number') return Number(/e-(\d+)$/.exec(String(value))?.[1] ?? 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, inner) => sum + leftOutDigits(inner), 0);
}
