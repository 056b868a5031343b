import { zeroAddress } from '../../../chain/address.ts';
import type { BlockLogs } from './block-logs.ts';
import type { Approval, Borrower, Erc20Movement, NftMovement, OperationEnd } from './domain.ts';
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
  readonly borrower?: Borrower;
  readonly operation?: OperationEnd;
  /** Tokens of the contract whose metadata changed. */
  readonly metadataChange?: TokenRange;
};

// ERC-2309 lets one log mint up to 2^256 tokens. Known collections stay at or below 5,000.
const maxConsecutive = 10_000n;

/** Returns the three values of a `Transfer` or an `Approval`. A value that is no topic is in the data. */
function valuesOf(log: RawLog, name: string): [string, string, bigint] {
  switch (log.topics.length) {
    case 3:
      expectWords(log, 1);
      return [topicAddress(log, 1), topicAddress(log, 2), wordAt(log, 0)];
    case 2:
      expectWords(log, 2);
      return [topicAddress(log, 1), addressAt(log, 0), wordAt(log, 1)];
    case 4:
      return [topicAddress(log, 1), topicAddress(log, 2), topicAt(log, 3)];
    case 1:
      expectWords(log, 3);
      return [addressAt(log, 0), addressAt(log, 1), wordAt(log, 2)];
    default:
      throw new LogShapeError(`${name} has 1 to 4 topics`);
  }
}

type OfValues = Pick<BlockLogs, 'values'>;

/** Returns whether the value is an amount, not the id of a token. The standards differ in the number of topics. */
const isOfAmount = ({ topics: { length }, address }: RawLog, { values }: OfValues): boolean =>
  (values.get(address) ?? (length === 2 || length === 3 ? 'amount' : 'id')) === 'amount';

export function readTransfer(log: RawLog, block: OfValues): LogFinding {
  const [from, to, value] = valuesOf(log, 'a Transfer');
  if (!isOfAmount(log, block)) return { nft: [single(log, { tokenId: value, from, to })] };
  return { erc20: [{ token: log.address, from, to, value, logIndex: log.index, kind: 'transfer' }] };
}

type Parts = Pick<NftMovement, 'tokenId' | 'from' | 'to'> & Partial<NftMovement>;

/** Returns the movement of one token, of an ERC-721 where nothing else is said. */
export function single(log: RawLog, parts: Parts): NftMovement {
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

export function readApproval(log: RawLog, block: OfValues): LogFinding {
  const [owner, spender, value] = valuesOf(log, 'an Approval');
  const parts = { token: log.address, owner, spender, value, logIndex: log.index };
  if (isOfAmount(log, block)) return { approvals: [{ ...parts, kind: 'amount', granted: value > 0n }] };
  return { approvals: [{ ...parts, kind: 'token', granted: spender !== zeroAddress }] };
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
