import { randomBytes } from 'node:crypto';

const lowerBits = 64n;
const lowerMask = (1n << lowerBits) - 1n;
// Both parts are bigint columns.
const largest = (1n << 63n) - 1n;

/** The lower part of a new token id: 63 random bits, which nobody can guess and no restored database gives again. */
export const newTokenPart = (): bigint => randomBytes(8).readBigUInt64BE() >> 1n || 1n;

// Numbers of RWAs have the time above 21 random bits. Releases up to 0.2.0 counted them from 1, so a restored database gave them again.
export const leastTimedNumber = 1n << 60n;

/** Whether a release up to 0.2.0 gave an RWA its number, which may be that of a lost RWA, too. */
export const isCountedNumber = (rwaNumber: bigint): boolean => rwaNumber < leastTimedNumber;

/** SQL for the first block in which a mint of an RWA can be, as text; 0 where no block is known. */
export const firstBlockSql = (rwa: string): string =>
  `CASE WHEN ${rwa}.number >= ${leastTimedNumber} AND ${rwa}.final_block > 0 THEN ${rwa}.final_block + 1 ELSE 0 END::text`;

/** SQL for the token id of an NFT: the number of its RWA above 64 bits. */
export const tokenIdSql = (rwaNumber: string, lower: string): string =>
  `${rwaNumber}::numeric * ${1n << lowerBits} + ${lower}`;

/** The decimal token id of an NFT. */
export const tokenIdOf = (rwaNumber: bigint, lower: bigint): string =>
  ((rwaNumber << lowerBits) + lower).toString();

/** The ids that tokens of an RWA may have: all with its number above 64 bits. */
export const tokenRangeOf = (rwaNumber: bigint): { readonly from: string; readonly to: string } => ({
  from: tokenIdOf(rwaNumber, 0n),
  to: tokenIdOf(rwaNumber, lowerMask),
});

/** The number of the RWA of a decimal token id; undefined when no NFT can have this id, or when it has leading zeros. */
export function rwaNumberOf(tokenId: string): bigint | undefined {
  const id = BigInt(tokenId);
  if (id.toString() !== tokenId) return undefined;
  const [number, lower] = [id >> lowerBits, id & lowerMask];
  return [number, lower].every((part) => part > 0n && part <= largest) ? number : undefined;
}

/** A serial as people read it: at least six digits. */
export function serialText(serial: bigint): string {
  return serial.toString().padStart(6, '0');
}
