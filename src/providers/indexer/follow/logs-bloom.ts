import { getBytes, keccak256 } from 'ethers';
import type { RawBlock, RawReceipt } from '../decode/raw-block.ts';

type Filtered = Pick<RawReceipt, 'logs' | 'bloom'>;

// Tokens and topics come up in block after block. A hash takes some hundredths of a millisecond.
const mostKnown = 20_000;

/**
 * Creates a function that compares bloom filters with logs. It returns false where a filter has bits that no log gives,
 * so that logs are missing, and undefined where no filter has bits. Some nodes leave filters empty.
 */
export function createBloomCheck() {
  const known = new Map<string, readonly number[]>();

  const bitsOf = (item: string): readonly number[] => {
    const present = known.get(item);
    if (present !== undefined) return present;
    const hash = getBytes(keccak256(item));
    const bits = [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047);
    if (known.size >= mostKnown) known.clear();
    known.set(item, bits);
    return bits;
  };

  const isGiven = (bloom: string, receipts: readonly Filtered[]): boolean => {
    const rest = getBytes(bloom);
    for (const { address, topics } of receipts.flatMap(({ logs }) => logs)) {
      for (const bit of [address, ...topics].flatMap(bitsOf)) {
        const place = rest.length - 1 - (bit >> 3);
        rest[place] = (rest[place] ?? 0) & ~(1 << (bit & 7));
      }
    }
    return rest.every((byte) => byte === 0);
  };

  return ({ bloom }: Pick<RawBlock, 'bloom'>, receipts: readonly Filtered[]): boolean | undefined => {
    const filters = [
      ...receipts.map((receipt) => ({ bloom: receipt.bloom, of: [receipt] })),
      { bloom, of: receipts },
    ].flatMap(({ bloom: bits, of }) => (bits === undefined || /^0x0*$/.test(bits) ? [] : [{ bits, of }]));
    return filters.length === 0 ? undefined : filters.every(({ bits, of }) => isGiven(bits, of));
  };
}
