import type { Metrics } from '../../base/metrics.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { Database } from '../../contract/transaction.ts';
import { type IndexState, listIndexStates } from './store/write/index-state-store.ts';
import { countSkippedBlocks } from './store/write/skipped-block-store.ts';

const labels = ['chain_id'];

type LevelOptions = {
  readonly db: Database;
  readonly networks: Pick<NetworkRegistry, 'list'>;
};

/**
 * Registers the gauges of each index, which are read from the database at each scrape. The gauges of an index that is
 * kept although its network has another provider grow old on purpose.
 */
export function watchIndexes(metrics: Metrics, options: LevelOptions): void {
  metrics.levels({
    gauges: {
      behind: {
        name: 'tallystick_index_blocks_behind',
        help: 'Blocks of the node that are not in the index, as far as the node was last seen.',
        labels,
      },
      head: { name: 'tallystick_index_block', help: 'Block that the index is complete to.', labels },
      newBlock: {
        name: 'tallystick_index_new_block_seconds',
        help: 'Time since the node of the index last had a block that the index had not; it grows while the node stalls or is below the index.',
        labels,
      },
      seen: {
        name: 'tallystick_index_seen_seconds',
        help: 'Time since the index last heard of its node; it grows while the node is out or nobody indexes.',
        labels,
      },
      skipped: {
        name: 'tallystick_index_skipped_blocks',
        help: 'Blocks that the operator leaves out, since they cannot be read.',
        labels,
      },
      stuck: {
        name: 'tallystick_index_stuck',
        help: '1 while the index stalls until an operator acts, 0 while it goes on.',
        labels,
      },
    },
    sources: () => [
      {
        name: 'index',
        read: async () => levelsOf(await listFollowed(options), await countSkippedBlocks(options.db)),
      },
    ],
  });
}

async function listFollowed({ db, networks }: LevelOptions): Promise<IndexState[]> {
  const [states, registered] = await Promise.all([listIndexStates(db), networks.list()]);
  const followed = new Set(
    registered.filter(({ dataProvider }) => dataProvider === 'indexer').map(({ chainId }) => chainId),
  );
  return states.filter(({ chainId }) => followed.has(chainId));
}

function levelsOf(states: readonly IndexState[], skipped: ReadonlyMap<string, number>) {
  const level = ({ chainId }: IndexState, value: number | bigint) => ({
    labels: { chain_id: chainId },
    // Numbers of blocks are far below the largest exact number of a gauge.
    value: Number(value),
  });
  return {
    behind: states.flatMap((state) => {
      const { head, nodeHead, startBlock } = state;
      if (nodeHead === undefined) return [];
      const behind = nodeHead - (head?.number ?? startBlock - 1n);
      return [level(state, behind < 0n ? 0 : behind)];
    }),
    head: states.flatMap((state) => (state.head === undefined ? [] : [level(state, state.head.number)])),
    newBlock: states.flatMap((state) => {
      const { newBlockAt } = state;
      return newBlockAt === undefined ? [] : [level(state, secondsSince(newBlockAt))];
    }),
    seen: states.map((state) => level(state, secondsSince(state.updatedAt))),
    skipped: states.map((state) => level(state, skipped.get(state.chainId) ?? 0)),
    stuck: states.map((state) => level(state, state.stuck === undefined ? 0 : 1)),
  };
}

const secondsSince = (moment: Date) => Math.max(0, (Date.now() - moment.getTime()) / 1_000);
