import { expectWords, LogShapeError, topicAt, wordAt } from './log-words.ts';
import type { RawLog } from './raw-block.ts';
import type { LogFinding } from './transfer-logs.ts';

/** ERC-4906: the metadata of one token changed. */
export function readMetadataUpdate(log: RawLog): LogFinding {
  expectWords(log, 1);
  return changeOf(wordAt(log, 0));
}

/** ERC-4906: the metadata of a range of tokens changed, both ends included. */
export function readBatchMetadataUpdate(log: RawLog): LogFinding {
  expectWords(log, 2);
  const first = wordAt(log, 0);
  const last = wordAt(log, 1);
  if (last < first) throw new LogShapeError('the range ends before it begins');
  return { metadataChange: { first, last } };
}

/** ERC-1155: the URI of a token changed. */
export function readUriChange(log: RawLog): LogFinding {
  return changeOf(topicAt(log, 1));
}

function changeOf(tokenId: bigint): LogFinding {
  return { metadataChange: { first: tokenId, last: tokenId } };
}
