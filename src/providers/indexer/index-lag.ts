import type { NetworkRegistry } from '../../chain/networks.ts';
import type { Database } from '../../contract/transaction.ts';
import { createIndexStore } from './store/index-store.ts';

type LagOptions = {
  readonly db: Database;
  readonly networks: Pick<NetworkRegistry, 'list'>;
  /** Blocks that an index may be behind its node. */
  readonly most: bigint;
};

/**
 * Whether every index is near the head of its node, as far as the node was last seen: a node that is out
 * makes an index old, which its answers tell, and takes nothing else down.
 * @throws Error naming the networks that are not
 */
export function createLagCheck({ db, networks, most }: LagOptions): () => Promise<void> {
  const store = createIndexStore({ db });
  return async () => {
    const states = new Map((await store.list()).map((state) => [state.chainId, state]));
    const wanted = (await networks.list()).filter(({ dataProvider }) => dataProvider === 'indexer');
    const late = wanted.filter(({ chainId }) => {
      const { head, nodeHead } = states.get(chainId) ?? {};
      return head === undefined || nodeHead === undefined || nodeHead - head.number > most;
    });
    if (late.length === 0) return;
    throw new Error(`not near the head: ${late.map(({ chainId }) => chainId).join(', ')}`);
  };
}
