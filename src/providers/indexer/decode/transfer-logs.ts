import type { BlockLogs } from './block-logs.ts';
import { type Approval, type Erc20Movement, type NftMovement, zeroAddress } from './domain.ts';
import {
  addressAt,
  arrayAt,
  expectWords,
  LogShapeError,
  topicAddress,
  topicAt,
  wordAt,
} from './log-words.ts';
import type { TokenRange } from './metadata-changes.ts';
import type { RawLog } from './raw-block.ts';

/** The content of one log; empty fields are left out. */
export type LogFinding = {
  readonly erc20?: readonly Erc20Movement[];
  readonly nft?: readonly NftMovement[];
  readonly approvals?: readonly Approval[];
  readonly borrowers?: readonly string[];
  readonly operationSenders?: readonly string[];
  /** Tokens of the contract whose metadata changed. */
  readonly metadataChange?: TokenRange;
};

// ERC-2309 lets one log mint up to 2^256 tokens. Known collections stay at or below 5,000.
const maxConsecutive = 10_000n;

/** `Transfer`: the number of topics distinguishes ERC-20 (3), ERC-721 (4) and the form before the standard (1). */
export function readTransfer(log: RawLog, { indexedValues }: Pick<BlockLogs, 'indexedValues'>): LogFinding {
  const token = log.address;
  const logIndex = log.index;
  if (log.topics.length === 4 && indexedValues.has(token)) {
    const [from, to] = [topicAddress(log, 1), topicAddress(log, 2)];
    return { erc20: [{ token, from, to, value: topicAt(log, 3), logIndex, kind: 'transfer' }] };
  }
  if (log.topics.length === 3) {
    expectWords(log, 1);
    const from = topicAddress(log, 1);
    const to = topicAddress(log, 2);
    return { erc20: [{ token, from, to, value: wordAt(log, 0), logIndex, kind: 'transfer' }] };
  }
  if (log.topics.length === 4) {
    const from = topicAddress(log, 1);
    const to = topicAddress(log, 2);
    return { nft: [single(log, { tokenId: topicAt(log, 3), from, to })] };
  }
  if (log.topics.length !== 1) throw new LogShapeError('a Transfer has 1, 3 or 4 topics');
  expectWords(log, 3);
  const from = addressAt(log, 0);
  const to = addressAt(log, 1);
  return { nft: [single(log, { tokenId: wordAt(log, 2), from, to })] };
}

type Parts = Pick<NftMovement, 'tokenId' | 'from' | 'to'> & Partial<NftMovement>;

function single(log: RawLog, parts: Parts): NftMovement {
  const rest = { standard: 'ERC721', amount: 1n, operator: null, batch: false, part: 0 } as const;
  return { token: log.address, logIndex: log.index, ...rest, ...parts };
}

export function readTransferSingle(log: RawLog): LogFinding {
  expectWords(log, 2);
  return {
    nft: [
      single(log, {
        tokenId: wordAt(log, 0),
        amount: wordAt(log, 1),
        ...holders(log),
        standard: 'ERC1155',
      }),
    ],
  };
}

export function readTransferBatch(log: RawLog, block: Pick<BlockLogs, 'takeBatch'>): LogFinding {
  expectWords(log, 2);
  const ids = arrayAt(log, 0);
  const amounts = arrayAt(log, 1);
  if (ids.length !== amounts.length) throw new LogShapeError('ids and amounts differ in number');
  block.takeBatch(ids.length);
  const parties = holders(log);
  return {
    nft: ids.map((tokenId, part) =>
      single(log, {
        tokenId,
        amount: amounts[part] ?? 0n,
        ...parties,
        standard: 'ERC1155',
        batch: true,
        part,
      }),
    ),
  };
}

function holders(log: RawLog) {
  return { operator: topicAddress(log, 1), from: topicAddress(log, 2), to: topicAddress(log, 3) };
}

/** ERC-2309: a range of tokens, both ends included. */
export function readConsecutiveTransfer(log: RawLog, block: Pick<BlockLogs, 'takeRange'>): LogFinding {
  expectWords(log, 1);
  const first = topicAt(log, 1);
  const last = wordAt(log, 0);
  const from = topicAddress(log, 2);
  const to = topicAddress(log, 3);
  if (last < first) throw new LogShapeError('the range ends before it begins');
  if (last - first >= maxConsecutive) throw new LogShapeError('the range is too long');
  const length = Number(last - first) + 1;
  block.takeRange(length);
  return {
    nft: Array.from({ length }, (_, part) => single(log, { tokenId: first + BigInt(part), from, to, part })),
  };
}

/** A wrapped native token mints at a deposit and burns at a withdrawal. */
export function readWrap(log: RawLog, direction: 'deposit' | 'withdrawal'): LogFinding {
  if (log.topics.length !== 2) return {};
  expectWords(log, 1);
  const account = topicAddress(log, 1);
  const [from, to] = direction === 'deposit' ? [zeroAddress, account] : [account, zeroAddress];
  return {
    erc20: [
      { token: log.address, from, to, value: wordAt(log, 0), logIndex: log.index, kind: 'wrap' } as const,
    ],
  };
}

/** `Approval`: the same 3 topics (ERC-20), 4 topics (ERC-721) and 1 topic (before the standard) as a transfer. */
export function readApproval(log: RawLog, { indexedValues }: Pick<BlockLogs, 'indexedValues'>): LogFinding {
  const base = { token: log.address, logIndex: log.index };
  if (log.topics.length === 4 && indexedValues.has(log.address)) {
    const value = topicAt(log, 3);
    const parties = { owner: topicAddress(log, 1), spender: topicAddress(log, 2) };
    return { approvals: [{ ...base, ...parties, kind: 'amount', value, granted: value > 0n }] };
  }
  if (log.topics.length === 3) {
    expectWords(log, 1);
    const value = wordAt(log, 0);
    const owner = topicAddress(log, 1);
    const spender = topicAddress(log, 2);
    return { approvals: [{ ...base, owner, spender, kind: 'amount', value, granted: value > 0n }] };
  }
  const indexed = log.topics.length === 4;
  if (!indexed && log.topics.length !== 1) throw new LogShapeError('an Approval has 1, 3 or 4 topics');
  if (!indexed) expectWords(log, 3);
  const owner = indexed ? topicAddress(log, 1) : addressAt(log, 0);
  const spender = indexed ? topicAddress(log, 2) : addressAt(log, 1);
  const value = indexed ? topicAt(log, 3) : wordAt(log, 2);
  return {
    approvals: [{ ...base, owner, spender, kind: 'token', value, granted: spender !== zeroAddress }],
  };
}

export function readApprovalForAll(log: RawLog): LogFinding {
  const indexed = log.topics.length === 3;
  expectWords(log, indexed ? 1 : 3);
  const owner = indexed ? topicAddress(log, 1) : addressAt(log, 0);
  const spender = indexed ? topicAddress(log, 2) : addressAt(log, 1);
  const granted = wordAt(log, indexed ? 0 : 2) !== 0n;
  return {
    approvals: [{ token: log.address, owner, spender, kind: 'all', value: 0n, granted, logIndex: log.index }],
  };
}
