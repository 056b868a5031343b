import { describe, expect } from 'vitest';
import { NodesUnavailableError } from '../../src/chain/rpc/transport/node-fault.ts';
import type { Step } from '../../src/providers/indexer/follow/follower.ts';
import { closing } from '../support/closing.ts';
import { test } from '../support/fixtures.ts';
import { deniesReceipts, readReorganisation } from '../support/node/replay.ts';
import { createTestIndex, dumpIndex } from './index-fixture.ts';
import { replayedIndex } from './replayed-index.ts';

const recordings = [
  { name: 'reorg-13522937-13522962', start: 13_522_937n, complete: false, rollbacks: 3 },
  // The node never told the logs of the branch that came and went, so it never gets into the index.
  { name: 'reorg-13522239-13522250', start: 13_522_239n, complete: false, rollbacks: 0 },
  { name: 'reorg-13522239-13522250', start: 13_522_239n, complete: true, rollbacks: 2 },
];

describe('a recorded reorganisation of Polygon', () => {
  test.for(recordings)(
    'ends in the canonical branch: $name, complete: $complete',
    async (recording, { database, otherDatabase }) => {
      const { name, start, complete, rollbacks } = recording;
      const { blocks, moments } = readReorganisation(name, complete);
      const { chainId, node, index } = await replayedIndex(database, blocks, { startBlock: start });
      const steps: Step[] = [];
      for (const { head, denied } of moments) {
        node.setHead(head);
        const timesOf = (hash: string) => 1 + denied.filter((other) => other === hash).length;
        const lacking = complete ? [] : [...new Set(denied)];
        node.setFlaws(...lacking.map((hash) => deniesReceipts(hash, timesOf(hash))));
        await index.follow(steps).catch(nodeFailure);
      }
      expect(steps.filter((step) => step === 'rolled_back')).toHaveLength(rollbacks);
      const state = await index.state();
      expect(state?.head?.hash).toBe(moments.at(-1)?.head);

      const fresh = closing(createTestIndex(otherDatabase, node.url, { chainId, startBlock: start }));
      await fresh.follow();
      expect(await dumpIndex(database, chainId)).toEqual(await dumpIndex(otherDatabase, chainId));
      const { wallet_history: rows } = (await dumpIndex(database, chainId)) as { wallet_history: unknown[] };
      expect(rows.length).toBeGreaterThan(100);
    },
  );
});

/** While the node denies a block, a step fails and changes nothing. */
function nodeFailure(error: unknown): void {
  if (!(error instanceof NodesUnavailableError)) throw error;
}
