import type { Network } from '../../chain/rpc/client/network.ts';
import type { LeaseHolder } from '../../db/leases/lease-store.ts';
import type { IndexState } from '../../providers/indexer/store/write/index-state-store.ts';

// So few blocks behind the node, an index counts as up to date: the blocks are being processed.
const near = 5n;

type Index = {
  /** Undefined for an index that is left of a network. */
  readonly network: Network | undefined;
  /** Undefined before the index began. */
  readonly state: IndexState | undefined;
  /** Who keeps it now. */
  readonly holder: LeaseHolder | undefined;
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
