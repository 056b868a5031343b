/** Reads the first 32 bytes of a contract's answer. @returns undefined where there are fewer, or the contract failed */
export function wordOf(data: string | undefined): bigint | undefined {
  return data === undefined || data.length < 66 ? undefined : BigInt(data.slice(0, 66));
}

/** Reads an address from a contract's answer, in lower case. */
export function accountOf(data: string | undefined): string | undefined {
  const word = wordOf(data);
  return word === undefined || word >= 2n ** 160n ? undefined : `0x${word.toString(16).padStart(40, '0')}`;
}
