import { afterEach, describe, expect, test } from 'vitest';
import type { MintStep } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { untilAll } from '../support/minting.ts';
import { createMintSetup, type MintSetup } from './mint-setup.ts';

let setup: MintSetup;
afterEach(() => setup.close());

// `npm run faults` tries every step; npm test those with the widest windows.
const isEveryStep = process.env['FAULTS'] === 'all';

const steps: readonly (readonly [MintStep, number])[] = [
  ['signed', 1],
  ['stored', 1],
  ['sent', 2],
  ['mined', 1],
  ['confirming', 1],
  ['confirmed', 1],
  ['finalized', 1],
];

describe('a worker that is killed', () => {
  test.each(isEveryStep ? steps : steps.slice(1, 3))(
    'having %s (%i) leaves nothing that the next one does not finish',
    async (step, times) => {
      setup = await createMintSetup();
      const mining = setup.keepMining();
      const first = setup.work({ step, times });
      const ids = await setup.accept(3);
      await first.until(/working/).catch(() => {});
      // On a busy machine one transaction would take all of them.
      if (times > 1) await untilAll(setup.service, ids, 'submitted');
      ids.push(...(await setup.accept(9)));
      expect(await first.ended).toBe('SIGKILL');
      mining.stop();
      expect(await setup.settle(ids)).toEqual([]);
    },
  );

  test.each<MintStep>(isEveryStep ? ['raise_stored', 'raise_sent'] : ['raise_stored'])(
    'having %s: either attempt may win, and one does',
    async (step) => {
      setup = await createMintSetup();
      await setup.chain.call('evm_setAutomine', false);
      const ids = await setup.accept(4);
      const first = setup.work({ step, times: 1 }, { MINT_STUCK_BLOCKS: '1' });
      // Signed at the present price: only then do blocks ask for more than it pays, and have no place for it.
      await untilAll(setup.service, ids, 'submitted');
      const timer = setInterval(async () => {
        await setup.chain.call('anvil_setNextBlockBaseFeePerGas', '0x174876e800').catch(() => {});
        await setup.chain.mine().catch(() => {});
      }, 200);
      expect(await first.ended).toBe('SIGKILL');
      clearInterval(timer);
      expect(await setup.settle(ids)).toEqual([]);
    },
  );
});
