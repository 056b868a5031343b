import type { Command } from 'commander';
import { errorText } from '../../base/thrown.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { IndexState } from '../../providers/indexer/store/write/index-state-store.ts';
import { countSkippedBlocks } from '../../providers/indexer/store/write/skipped-block-store.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import { blocksBehind, indexStateOf, listIndexes, type NetworkIndexState } from '../shared/index-state.ts';
import { asOperator, type Operator, type Session } from '../shared/session.ts';
import { chainId as asChainId } from '../shared/values.ts';

const columns = {
  chainId: 'CHAIN',
  state: 'STATE',
  completeTo: 'COMPLETE TO',
  completeToTime: 'OF',
  nodeHead: 'NODE AT',
  behind: 'BEHIND',
  blocksPerSecond: 'BLOCKS/S',
  innerValue: 'VALUE MOVED INSIDE TRANSACTIONS',
  indexer: 'INDEXER',
  lastError: 'LAST ERROR',
};

export function addIndexStatusCommand(index: Command, session: Session): void {
  const status = index
    .command('status')
    .description('Show the progress of each index, the process that indexes, and what delays it')
    .argument('[chainId]', 'only this network, in detail', asChainId)
    .action((chainId: string | undefined) =>
      asOperator(session, async (operator) => {
        const found = await statuses(operator, chainId);
        if (chainId === undefined) return operator.output.rows(found, columns);
        const [only] = found;
        if (only === undefined) {
          throw new UsageError(
            `Network ${chainId} has no index. List those that have: tallystick index status`,
          );
        }
        operator.output.record(only);
      }),
    );
  examples(status, 'index status', 'index status 137', "index status --json | jq '.[] | {chainId, behind}'");
}

async function statuses({ db, clients }: Operator, only: string | undefined) {
  const [indexes, skipped] = await Promise.all([listIndexes(db), countSkippedBlocks(db)]);
  const wanted = indexes.filter(({ chainId }) => only === undefined || only === chainId);
  return Promise.all(
    wanted.map(async (index) =>
      describe(index, {
        node: await askNode(clients, index.network),
        skippedBlocks: skipped.get(index.chainId) ?? 0,
      }),
    ),
  );
}

type NodeState = {
  /** The newest block of the node. */
  readonly head: bigint | undefined;
  /** Why the node did not answer. */
  readonly error: string | undefined;
};

async function askNode(clients: RpcClients, network: Network | undefined): Promise<NodeState> {
  if (network === undefined) return { head: undefined, error: undefined };
  try {
    const head = BigInt(String(await clients.for(network).send('eth_blockNumber', [])));
    return { head, error: undefined };
  } catch (error) {
    return { head: undefined, error: errorText(error) };
  }
}

type Findings = { readonly node: NodeState; readonly skippedBlocks: number };

function describe(index: NetworkIndexState, { node, skippedBlocks }: Findings) {
  const { chainId, network, state, holder } = index;
  const { head, blocksPerSecond, lastError } = state ?? {};
  const nodeHead = node.head ?? state?.nodeHead;
  const behind = blocksBehind(state, nodeHead);
  const left =
    behind === undefined || !blocksPerSecond ? undefined : Math.ceil(Number(behind) / blocksPerSecond);
  return {
    chainId,
    name: network?.name ?? null,
    state: indexStateOf({ ...index, behind }),
    startBlock: (state?.startBlock ?? network?.indexFrom)?.toString() ?? null,
    completeTo: head?.number.toString() ?? null,
    completeToHash: head?.hash ?? null,
    completeToTime: head?.time ?? null,
    finalized: state === undefined || state.finalized < 0n ? null : state.finalized.toString(),
    nodeHead: nodeHead?.toString() ?? null,
    behind: behind?.toString() ?? null,
    newBlockAt: state?.newBlockAt ?? null,
    blocksPerSecond: blocksPerSecond === undefined ? null : Math.round(blocksPerSecond * 10) / 10,
    secondsLeft: left ?? null,
    innerValue: innerValueOf(network, state),
    untracedBlocks: (state?.untracedBlocks ?? 0n).toString(),
    withoutReceipt: (state?.withoutReceipt ?? 0n).toString(),
    incompleteBlocks: (state?.incompleteBlocks ?? 0n).toString(),
    skippedBlocks: skippedBlocks.toString(),
    stuckAt: state?.stuck?.block?.toString() ?? null,
    stuckSince: state?.stuck?.since ?? null,
    stuckReason: state?.stuck?.reason ?? null,
    indexer: holder?.process ?? null,
    indexerSince: holder?.since ?? null,
    lastError: lastError?.message ?? null,
    lastErrorAt: lastError?.at ?? null,
    nodeError: node.error ?? null,
  };
}

const methods = { debug: 'debug_traceBlockByHash', trace: 'trace_block' } as const;

function innerValueOf(network: Network | undefined, state: IndexState | undefined): string {
  const method = network?.indexTraces ?? state?.internalTransfers ?? 'none';
  if (method === 'none') return 'unknown: traces are not read (--index-traces)';
  const missing = state?.untracedBlocks ?? 0n;
  if (missing === 0n) return `known by ${methods[method]}`;
  return `unknown in ${missing} block(s): the node has no ${methods[method]} of them`;
}
