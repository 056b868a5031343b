import { zeroAddress } from '../../../chain/address.ts';
import type { NftMovement } from './domain.ts';
import { expectWords, LogShapeError, topicAddress, topicAt, wordAt } from './log-words.ts';
import type { RawLog } from './raw-block.ts';
import { topics } from './topics.ts';
import { single } from './transfer-logs.ts';

/** CryptoPunks, on Ethereum: a collection older than ERC-721, with its own events. */
export const punksContract = '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb';

/**
 * Decodes a log of CryptoPunks. Its `Transfer` has the form of an ERC-20 transfer and only repeats the other events.
 * @param before the previous log of the transaction
 * @returns undefined for a log that moves no punk
 */
export function readPunk(log: RawLog, before: RawLog | undefined): NftMovement | undefined {
  switch (log.topics[0]) {
    case topics.punkAssign:
      expectWords(log, 1);
      return single(log, { tokenId: wordAt(log, 0), from: zeroAddress, to: topicAddress(log, 1) });
    case topics.punkTransfer:
      expectWords(log, 1);
      return single(log, { tokenId: wordAt(log, 0), from: topicAddress(log, 1), to: topicAddress(log, 2) });
    case topics.punkBought:
      return single(log, { tokenId: topicAt(log, 1), from: topicAddress(log, 2), to: buyerOf(log, before) });
    default:
      return undefined;
  }
}

/**
 * When a bid is accepted, the contract clears the bidder before it logs the bidder. The `Transfer` before has the
 * name.
 */
function buyerOf(log: RawLog, before: RawLog | undefined): string {
  const named = topicAddress(log, 3);
  if (named !== zeroAddress) return named;
  if (before?.address === log.address && before.topics[0] === topics.transfer) return topicAddress(before, 2);
  throw new LogShapeError('nobody is named as the buyer');
}
