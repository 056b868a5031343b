import { listNetworks } from '../../chain/network-store.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { Database } from '../../contract/transaction.ts';
import { findLeaseHolder, type LeaseHolder } from '../../db/leases/lease-store.ts';
import { indexLeaseName } from '../../providers/indexer/follow/index-runner.ts';
import { type IndexState, listIndexStates } from '../../providers/indexer/store/write/index-state-store.ts';

// So few blocks behind the node, an index counts as up to date: the blocks are being processed.
const near = 5n;

/** The index of a network, begun or not. */
export type NetworkIndexState = {
  readonly chainId: string;
  /** Undefined for an index that is left of a network. */
  readonly network: Network | undefined;
  /** Undefined before the index began. */
  readonly state: IndexState | undefined;
  /** The process that keeps it now. */
  readonly holder: LeaseHolder | undefined;
};

/** Lists the indexes that have begun, and the networks whose provider is the index. */
export async function listIndexes(db: Database): Promise<NetworkIndexState[]> {
  const [networks, states] = await Promise.all([listNetworks(db), listIndexStates(db)]);
  const followed = networks.filter(({ dataProvider }) => dataProvider === 'indexer');
  const chainIds = new Set([...followed, ...states].map(({ chainId }) => chainId));
  const sorted = [...chainIds].sort((a, b) => Number(BigInt(a) - BigInt(b)));
  return Promise.all(
    sorted.map(async (chainId) => ({
      chainId,
      network: networks.find((each) => each.chainId === chainId),
      state: states.find((each) => each.chainId === chainId),
      holder: await findLeaseHolder(db, indexLeaseName(chainId)),
    })),
  );
}

type Index = NetworkIndexState & {
  /** Blocks between the index and its node; undefined while that is not known. */
  readonly behind: bigint | undefined;
};

/** What an index does, or why it does nothing, in words. */
export function indexStateOf({ network, state, holder, behind }: Index): string {
  if (network === undefined) return 'left over: no such network';
  if (network.dataProvider !== 'indexer') return `kept: the provider is ${network.dataProvider}`;
  if (holder === undefined) return state?.head === undefined ? 'not begun' : 'stopped: nobody indexes it';
  if (state?.stuck !== undefined) return 'stuck';
  if (state?.lastError !== undefined) return 'failing';
  if (behind === undefined) return 'beginning';
  return behind > near ? 'catching up' : 'following';
}

/** How many blocks an index is behind this block; undefined while either is not known. */
export function blocksBehind(
  state: IndexState | undefined,
  nodeHead: bigint | undefined,
): bigint | undefined {
  if (state?.head === undefined || nodeHead === undefined) return undefined;
  const behind = nodeHead - state.head.number;
  return behind > 0n ? behind : 0n;
}
