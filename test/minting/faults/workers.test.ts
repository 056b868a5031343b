import { afterEach, describe, expect, test } from 'vitest';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
afterEach(() => setup.close());

const tally = async () => {
  const rows = await setup.service.db('mint_transactions').select('signer', 'nonce');
  return Map.groupBy(rows, ({ signer }) => signer);
};

describe('workers', () => {
  test('at once, on three signers: all of them mint, each with nonces without a gap', async () => {
    setup = await createMintSetup({ minters: 3 });
    const workers = [setup.work(), setup.work()];
    await Promise.all(workers.map((worker) => worker.until(/working/)));
    const mining = setup.keepMining();
    const ids: string[] = [];
    // A lane that gets its turn late on a busy machine must not find everything taken.
    for (let round = 0; round < 5 || (await tally()).size < 3; round += 1)
      ids.push(...(await setup.accept(12)));
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
    const lanes = await tally();
    expect(lanes.size).toBe(3);
    for (const rows of lanes.values()) {
      const nonces = rows.map(({ nonce }) => Number(nonce)).toSorted((a, b) => a - b);
      expect(nonces).toEqual(nonces.map((_, index) => index));
    }
  });
});
