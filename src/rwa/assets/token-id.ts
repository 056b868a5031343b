const serialBits = 64n;
const serialMask = (1n << serialBits) - 1n;
// Both parts are bigint columns.
const largest = (1n << 63n) - 1n;

export type TokenParts = { readonly rwaNumber: bigint; readonly serial: bigint };

/** SQL for the token id of an NFT: the number of its RWA above 64 bits of serial. */
export const tokenIdSql = (rwaNumber: string, serial: string): string =>
  `${rwaNumber}::numeric * ${1n << serialBits} + ${serial}`;

/** The decimal token id of an NFT. */
export const tokenIdOf = ({ rwaNumber, serial }: TokenParts): string =>
  ((rwaNumber << serialBits) + serial).toString();

/** The parts of a decimal token id; undefined when no NFT can have this id, or when it has leading zeros. */
export function tokenPartsOf(tokenId: string): TokenParts | undefined {
  const id = BigInt(tokenId);
  if (id.toString() !== tokenId) return undefined;
  const parts = { rwaNumber: id >> serialBits, serial: id & serialMask };
  const possible = [parts.rwaNumber, parts.serial].every((part) => part > 0n && part <= largest);
  return possible ? parts : undefined;
}

/** A serial as people read it: at least six digits. */
export function serialText(serial: bigint): string {
  return serial.toString().padStart(6, '0');
}
