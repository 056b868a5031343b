import type { NetworkRegistry } from '../../chain/networks.ts';
import type { Database } from '../../contract/transaction.ts';
import { type IndexState, listIndexStates } from './store/write/index-state-store.ts';

type LagOptions = {
  readonly db: Database;
  readonly networks: Pick<NetworkRegistry, 'list'>;
  /** Number of blocks that an index may be behind its node. */
  readonly most: bigint;
};

/**
 * Checks that every index goes on and is near the head that its node had at the last poll. A node that is out fails no
 * check: the index ages, and its responses say so.
 * @throws Error with the chain ids of the networks that are behind, and of networks that are stuck or failing, with the
 *   reason
 */
export function createLagCheck({ db, networks, most }: LagOptions): () => Promise<void> {
  return async () => {
    const states = new Map((await listIndexStates(db)).map((state) => [state.chainId, state]));
    const wanted = (await networks.list()).filter(({ dataProvider }) => dataProvider === 'indexer');
    const late = wanted.filter(({ chainId }) => {
      const { head, nodeHead } = states.get(chainId) ?? {};
      return head === undefined || nodeHead === undefined || nodeHead - head.number > most;
    });
    const stuck = wanted.flatMap(({ chainId }) => {
      const { reason } = states.get(chainId)?.stuck ?? {};
      return reason === undefined ? [] : [`stuck: ${reason}`];
    });
    const failing = wanted.flatMap(({ chainId }) => failureOf(states.get(chainId)));
    const behind =
      late.length === 0 ? [] : [`not near the head: ${late.map(({ chainId }) => chainId).join(', ')}`];
    const all = [...behind, ...stuck, ...failing];
    if (all.length > 0) throw new Error(all.join('; '));
  };
}

// The index records every five seconds that its node answers, and tries again within as many.
const answeredMs = 15_000;

/** Returns why an index fails although its node answers, where it is not stuck. */
function failureOf(state: IndexState | undefined): string[] {
  const { chainId, stuck, lastError, updatedAt, head, nodeHead } = state ?? {};
  if (lastError === undefined || updatedAt === undefined || stuck !== undefined) return [];
  // The node is behind, and not the index.
  if (head !== undefined && nodeHead !== undefined && nodeHead < head.number) return [];
  const isOut = lastError.at.getTime() - updatedAt.getTime() > answeredMs;
  return isOut ? [] : [`failing: ${chainId}: ${lastError.message}`];
}
