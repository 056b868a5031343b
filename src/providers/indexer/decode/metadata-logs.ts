import { expectWords, LogShapeError, topicAt, wordAt } from './log-words.ts';
import type { RawLog } from './raw-block.ts';
import type { LogFinding } from './transfer-logs.ts';

// A longer range counts as the whole collection: many contracts give one without end when they mean all tokens.
const longestRange = 100n;

/** ERC-4906: the metadata of one token changed. */
export function readMetadataUpdate(log: RawLog): LogFinding {
  expectWords(log, 1);
  return { metadataChanges: [{ token: log.address, tokenId: wordAt(log, 0) }] };
}

/** ERC-4906: the metadata of a range of tokens changed, both ends included. */
export function readBatchMetadataUpdate(log: RawLog): LogFinding {
  expectWords(log, 2);
  const first = wordAt(log, 0);
  const last = wordAt(log, 1);
  if (last < first) throw new LogShapeError('the range ends before it begins');
  if (last - first >= longestRange) {
    return { metadataChanges: [{ token: log.address, tokenId: undefined }] };
  }
  const length = Number(last - first) + 1;
  return {
    metadataChanges: Array.from({ length }, (_, place) => ({
      token: log.address,
      tokenId: first + BigInt(place),
    })),
  };
}

/** ERC-1155: the URI of a token changed. */
export function readUriChange(log: RawLog): LogFinding {
  return { metadataChanges: [{ token: log.address, tokenId: topicAt(log, 1) }] };
}
