import pLimit from 'p-limit';
import { findFinalBlock, saveFinalBlock } from '../../chain/finality-store.ts';
import {
  type BlockRange,
  createLogWidth,
  isAnswered,
  type LogWidth,
  scanLogs,
} from '../../chain/minting/log-scan.ts';
import { createMintNode, type MintNode } from '../../chain/minting/mint-node.ts';
import { readTransfers, type Transfer } from '../../chain/minting/transfer-logs.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import { isNewer } from '../../chain/rpc/pool/node-consensus.ts';
import type { PinnedNode } from '../../chain/rpc/pool/pinned-node.ts';
import { NodesUnavailableError } from '../../chain/rpc/transport/node-fault.ts';
import type { Database } from '../../contract/transaction.ts';
import { firstBlockOf } from '../minting/compare/first-block.ts';
import type { ContractId } from '../minting/compare/token-row-store.ts';
import type { LedgerBlock, LedgerGroup } from './ledger-group.ts';
import {
  addLedger,
  advanceLedgers,
  findFirstBlock,
  findTransferBlock,
  LedgerMovedError,
  listContractsWithoutLedger,
  listLedgers,
  noteCaughtUp,
  rollBackLedgers,
  type TimedTransfer,
} from './ledger-store.ts';
import type { ReadLedgers } from './take-snapshots.ts';

/** The chain changed while a part of it was read. The next poll reads this part again. */
class ChainMovedError extends Error {}

/** Called at each step, for tests and the log. */
export type OnLedgerStep = (
  step: 'read' | 'advanced' | 'rolled_back',
  facts: { readonly chainId: string; readonly from: bigint; readonly to: bigint },
) => Promise<void> | void;

/** Called with each contract that could not be read. */
export type OnUnread = (contract: ContractId, error: unknown) => void;

export type LedgerRun = {
  readonly db: Database;
  readonly network: Network;
  readonly pinNode: (
    network: Network,
    known: Awaited<ReturnType<typeof findFinalBlock>>,
  ) => Promise<PinnedNode>;
  /** How many blocks nodes give at once; kept from poll to poll. */
  readonly width?: LogWidth;
  readonly signal: AbortSignal;
  readonly onUnread: OnUnread;
  readonly step?: OnLedgerStep;
};

// So many addresses fit into one question for logs.
const mostContracts = 200;
// So many headers are asked for concurrently.
const headersAtOnce = 5;

/**
 * Polls a network once: reads what the contracts of its RWAs transferred up to the newest confirmed block. Contracts whose ledgers are
 * at the same block share their questions; one that cannot be read delays no other. It reads nothing while nodes disagree, or while a
 * final block is gone.
 * @returns what was read; undefined when nothing was
 * @throws when no node answers, or the chain changes meanwhile
 */
export async function followTransfers(run: LedgerRun): Promise<ReadLedgers | undefined> {
  const { db, network, pinNode } = run;
  const { chainId } = network;
  const missing = await listContractsWithoutLedger(db, chainId);
  if (missing.length === 0 && (await listLedgers(db, chainId)).length === 0) return undefined;
  const known = await findFinalBlock(db, chainId);
  const pinned = await pinNode(network, known);
  if (pinned.disagreement !== undefined || pinned.rolledBack !== undefined) return undefined;
  const { lasting } = pinned;
  if (isNewer(lasting, known)) await saveFinalBlock(db, chainId, lasting);
  const node = createMintNode(pinned.provider, pinned);
  const top = (await node.head()).number - BigInt(network.confirmations) + 1n;
  const end = top < 0n ? null : await node.block(top);
  if (end === null) return undefined;
  const onUnread: OnUnread = (contract, error) => {
    node.preferOthers();
    run.onUnread(contract, error);
  };
  const own = { ...run, onUnread };
  for (const contract of missing) {
    await unlessUnread(own, contract, async () => {
      const first = await firstBlockOf({ db, node, chainId, contract, newest: top });
      await addLedger(db, { chainId, contract }, await blockBefore(node, first));
    });
  }
  const contracts: string[] = [];
  for (const group of (await listLedgers(db, chainId)).flatMap(inParts)) {
    contracts.push(...(await followApart({ ...own, node, pinned, end }, group)));
  }
  return { node, chainId, contracts, final: pinned.finalized };
}

/** Does something for one contract. A fault of this contract alone is reported. @returns whether it was done */
async function unlessUnread(run: LedgerRun, contract: string, work: () => Promise<void>): Promise<boolean> {
  run.signal.throwIfAborted();
  try {
    await work();
    return true;
  } catch (error) {
    if (isOfAll(run, error)) throw error;
    run.onUnread({ chainId: run.network.chainId, contract }, error);
    return false;
  }
}

/** Whether what failed would fail for every contract. */
const isOfAll = ({ signal }: LedgerRun, error: unknown): boolean =>
  signal.aborted ||
  error instanceof ChainMovedError ||
  error instanceof LedgerMovedError ||
  (error instanceof NodesUnavailableError && !isAnswered(error));

/** Follows a group; when that fails, each of its contracts by itself. @returns contracts whose ledgers are on the chain of the node */
async function followApart(run: GroupRun, group: LedgerGroup): Promise<readonly string[]> {
  // A node that lags behind is no reorganisation.
  if (group.at.number > run.end.number) return [];
  const [contract = ''] = group.contracts;
  if (group.contracts.length === 1) {
    return (await unlessUnread(run, contract, () => followGroup(run, group))) ? [contract] : [];
  }
  try {
    await followGroup(run, group);
    return group.contracts;
  } catch (error) {
    if (isOfAll(run, error)) throw error;
  }
  const read: string[] = [];
  // Some blocks of the group may be read by now.
  for (const { at, contracts } of await listLedgers(run.db, group.chainId)) {
    for (const each of contracts.filter((one) => group.contracts.includes(one)))
      read.push(...(await followApart(run, { ...group, at, contracts: [each] })));
  }
  return read;
}

type GroupRun = LedgerRun & {
  readonly node: MintNode;
  readonly pinned: PinnedNode;
  readonly end: LedgerBlock;
};

async function followGroup(run: GroupRun, group: LedgerGroup): Promise<void> {
  const { db, network, node, pinned, end, signal, step, width = createLogWidth() } = run;
  const { chainId } = network;
  if (!(await isOnChain(node, group.at))) {
    const fork = await findFork(run, group);
    await rollBackLedgers(db, group, fork);
    await step?.('rolled_back', { chainId, from: group.at.number, to: fork.number });
    return followGroup(run, { ...group, at: fork });
  }
  let at = group.at;
  let partEnd = end;
  const ask = async (part: BlockRange): Promise<TimedTransfer[]> => {
    signal.throwIfAborted();
    partEnd = part.to === end.number ? end : await blockAt(node, part.to);
    const transfers = await withTimes(node, await readTransfers(pinned.provider, group.contracts, part));
    // All transfers that were read are of one chain, when both ends still are.
    if ((await isOnChain(node, at)) && (await isOnChain(node, partEnd))) return transfers;
    throw new ChainMovedError(`Network ${chainId} replaced blocks up to ${part.to} while they were read.`);
  };
  for await (const part of scanLogs(ask, { from: at.number + 1n, to: end.number }, width)) {
    await step?.('read', { chainId, from: part.from, to: part.to });
    await advanceLedgers(db, { ...group, at }, partEnd, part.logs);
    await step?.('advanced', { chainId, from: part.from, to: part.to });
    at = partEnd;
  }
  await noteCaughtUp(db, group);
}

function inParts(group: LedgerGroup): LedgerGroup[] {
  const parts = Math.ceil(group.contracts.length / mostContracts);
  return Array.from({ length: parts }, (_, part) => ({
    ...group,
    contracts: group.contracts.slice(part * mostContracts, (part + 1) * mostContracts),
  }));
}

/** Whether the node has this block. Before the first block, there is none that could be replaced. */
const isOnChain = async (node: MintNode, { number, hash }: LedgerBlock): Promise<boolean> =>
  number < 0n || (await node.block(number))?.hash === hash;

async function blockAt(node: MintNode, number: bigint): Promise<LedgerBlock> {
  const block = await node.block(number);
  if (block === null) throw new ChainMovedError(`The node does not have block ${number}.`);
  return block;
}

const beforeAll: LedgerBlock = { number: -1n, hash: '', time: new Date(0) };

const blockBefore = async (node: MintNode, first: bigint): Promise<LedgerBlock> =>
  first === 0n ? beforeAll : blockAt(node, first - 1n);

/** Adds the times of their blocks to transfers. @throws ChainMovedError when the node has another block there */
async function withTimes(node: MintNode, transfers: readonly Transfer[]): Promise<TimedTransfer[]> {
  const few = pLimit(headersAtOnce);
  const numbers = [...new Set(transfers.map(({ blockNumber }) => blockNumber))];
  const blocks = new Map(
    await Promise.all(
      numbers.map((number) => few(async () => [number, await blockAt(node, number)] as const)),
    ),
  );
  return transfers.map((transfer) => {
    const block = blocks.get(transfer.blockNumber);
    if (block?.hash === transfer.blockHash) return { ...transfer, time: block.time };
    throw new ChainMovedError(`Block ${transfer.blockNumber} was replaced while it was read.`);
  });
}

/**
 * Finds the newest block with a transfer that the node has, below that of a group. A final block does not count: the
 * blocks that were read may have been replaced before others became final in their place. Where the chain has no such
 * block, everything is read again.
 */
async function findFork({ db, node }: GroupRun, group: LedgerGroup): Promise<LedgerBlock> {
  let kept: LedgerBlock | undefined;
  // How many blocks with transfers are above: of one that was replaced, and of one that was not.
  let [replaced, there] = [-1, Number.POSITIVE_INFINITY];
  while (replaced + 1 < there) {
    // Twice as many at each step, until one is there; then the middle. Of a chain that started again, few are asked for.
    const isFound = there < Number.POSITIVE_INFINITY;
    const offset = isFound ? Math.floor((replaced + there) / 2) : 2 * replaced + 2;
    const block = await findTransferBlock(db, group, offset);
    if (block !== undefined && !(await isOnChain(node, block))) replaced = offset;
    else [there, kept] = [offset, block];
  }
  return kept ?? blockBefore(node, await findFirstBlock(db, group));
}
