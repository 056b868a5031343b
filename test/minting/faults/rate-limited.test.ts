import { afterEach, describe, expect, test } from 'vitest';
import { untilAll } from '../../support/minting.ts';
import { failure } from '../../support/node/flaw.ts';
import { allows } from '../../support/node/limits.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
afterEach(() => setup.close());

describe('a node that answers', () => {
  test.each([
    [5, 'status 429', { status: 429 }],
    [1, 'status 429', { status: 429 }],
    [1, '-32005', failure(-32005, 'in whatever words')],
  ] as const)(
    '%i question(s) a second, and %s to others, mints',
    async (perSecond, _how, refusal) => {
      setup = await createMintSetup();
      setup.node.setFlaws(allows(perSecond, refusal));
      // It has half a second for an answer, which is less than the pause that the slower one wants.
      setup.work();
      const mining = setup.keepMining();
      const ids = await setup.accept(2);
      await untilAll(setup.service, ids, 'minted', 240);
      mining.stop();
      setup.node.setFlaws();
      expect(await setup.settle(ids)).toEqual([]);
    },
    300_000,
  );
});
