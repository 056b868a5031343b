import { closing } from '../support/closing.ts';
import type { TestDatabase } from '../support/database.ts';
import { type ReplayBlock, startReplayNode } from '../support/node/replay.ts';
import { createTestIndex } from './index-fixture.ts';

let lastChainId = 5_000;

type Options = NonNullable<Parameters<typeof createTestIndex>[2]> & {
  /** The newest block of the node; by default the last one. */
  readonly head?: ReplayBlock | undefined;
};

/** An index that has not begun, of a network of its own whose node replays these blocks. Both close with the test. */
export async function replayedIndex(
  database: TestDatabase,
  blocks: readonly ReplayBlock[],
  { head = blocks.at(-1), ...options }: Options = {},
) {
  lastChainId += 1;
  const chainId = String(lastChainId);
  const node = closing(await startReplayNode(chainId, blocks));
  if (head !== undefined) node.setHead(head.block.hash);
  const startBlock = BigInt(blocks[0]?.block.number ?? 0);
  const index = closing(createTestIndex(database, node.url, { chainId, startBlock, ...options }));
  return { chainId, node, index };
}
