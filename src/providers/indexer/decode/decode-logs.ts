import { zeroAddress } from '../../../chain/address.ts';
import type { BlockLogs } from './block-logs.ts';
import type { Erc20Movement, LogFindings } from './domain.ts';
import { addressAt, expectWords, LogShapeError, topicAddress, topicAt, wordAt } from './log-words.ts';
import { punksContract, readPunk } from './punks.ts';
import type { RawLog } from './raw-block.ts';
import { nativeLogEmitter, topics } from './topics.ts';
import {
  type LogFinding,
  readApproval,
  readApprovalForAll,
  readConsecutiveTransfer,
  readTransfer,
  readTransferBatch,
  readTransferSingle,
  readWrap,
} from './transfer-logs.ts';

type LogReader = (log: RawLog, block: BlockLogs, before: RawLog | undefined) => LogFinding;

const ifWrapped =
  (direction: 'deposit' | 'withdrawal'): LogReader =>
  (log, { wrapped }) =>
    wrapped.has(log.address) ? readWrap(log, direction) : {};

const ifPunk: LogReader = (log, _block, before) => {
  const punk = log.address === punksContract ? readPunk(log, before) : undefined;
  return punk === undefined ? {} : { nft: [punk] };
};

const ifEntryPoint =
  (signerOf: (log: RawLog) => string | null): LogReader =>
  (log, { entryPoints }) =>
    entryPoints.has(log.address) ? { operation: { signer: signerOf(log), logIndex: log.index } } : {};

/** The metadata of tokens changed, both ends included. */
function changeOf(first: bigint, last: bigint): LogFinding {
  if (last < first) throw new LogShapeError('the range ends before it begins');
  return { metadataChange: { first, last } };
}

const readers: Readonly<Record<string, LogReader>> = {
  [topics.transfer](log, block) {
    const isOther = log.address === punksContract || log.address === block.nativeAsset;
    return isOther ? {} : readTransfer(log, block);
  },
  [topics.punkAssign]: ifPunk,
  [topics.punkTransfer]: ifPunk,
  [topics.punkBought]: ifPunk,
  [topics.transferSingle]: readTransferSingle,
  [topics.transferBatch]: readTransferBatch,
  [topics.consecutiveTransfer]: readConsecutiveTransfer,
  // ERC-4906.
  [topics.metadataUpdate](log) {
    expectWords(log, 1);
    return changeOf(wordAt(log, 0), wordAt(log, 0));
  },
  [topics.batchMetadataUpdate](log) {
    expectWords(log, 2);
    return changeOf(wordAt(log, 0), wordAt(log, 1));
  },
  // ERC-1155.
  [topics.uri]: (log) => changeOf(topicAt(log, 1), topicAt(log, 1)),
  [topics.deposit]: ifWrapped('deposit'),
  [topics.withdrawal]: ifWrapped('withdrawal'),
  [topics.approval]: readApproval,
  [topics.approvalForAll]: readApprovalForAll,
  [topics.aaveBorrow]: (log) => ({ borrower: { account: topicAddress(log, 2), logIndex: log.index } }),
  [topics.aaveOldBorrow]: (log) => ({ borrower: { account: topicAddress(log, 2), logIndex: log.index } }),
  [topics.userOperation]: ifEntryPoint((log) => topicAddress(log, 2)),
  [topics.beforeExecution]: ifEntryPoint(() => null),
  [topics.compoundBorrow](log) {
    expectWords(log, 4);
    return { borrower: { account: addressAt(log, 0), logIndex: log.index } };
  },
};

/**
 * Decodes the logs of one transaction. A log whose shape does not match its topic is skipped and noted with the
 * block, because any contract can emit any log.
 */
export function decodeLogs(logs: readonly RawLog[], block: BlockLogs): LogFindings {
  const findings = logs.flatMap((log, place) => {
    const reader = readers[log.topics[0] ?? ''];
    if (reader === undefined || log.address === nativeLogEmitter) return [];
    try {
      const finding = reader(log, block, logs[place - 1]);
      if (finding.metadataChange !== undefined) block.metadata.add(log.address, finding.metadataChange);
      return [finding];
    } catch (error) {
      if (!(error instanceof LogShapeError)) throw error;
      block.skip(log, error.message);
      return [];
    }
  });
  return {
    erc20: withoutDoubles(findings.flatMap(({ erc20 = [] }) => erc20)),
    nft: findings.flatMap(({ nft = [] }) => nft),
    approvals: findings.flatMap(({ approvals = [] }) => approvals),
    borrowers: findings.flatMap(({ borrower }) => borrower ?? []),
    operations: findings.flatMap(({ operation }) => operation ?? []),
  };
}

/** Some wrapped tokens emit a Transfer in addition to the Deposit or Withdrawal. The movement counts once. */
function withoutDoubles(movements: readonly Erc20Movement[]): readonly Erc20Movement[] {
  if (!movements.some(({ kind }) => kind === 'wrap')) return movements;
  const name = ({ token, from, to, value }: Erc20Movement) => `${token}${from}${to}${value}`;
  const transfers = new Set(
    movements
      .filter(({ kind, from, to }) => kind === 'transfer' && (from === zeroAddress || to === zeroAddress))
      .map(name),
  );
  return movements.filter((movement) => movement.kind === 'transfer' || !transfers.has(name(movement)));
}
