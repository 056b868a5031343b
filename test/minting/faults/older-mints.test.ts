import { afterEach, beforeEach, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { lies } from '../../support/node/lies.ts';
import { createRefusedSetup, type RefusedSetup } from '../refused-setup.ts';

let setup: RefusedSetup;
beforeEach(async () => {
  setup = await createRefusedSetup();
});
afterEach(() => setup.close());

/** The NFT's row is as much younger than everything that is on the chain. */
const makeYounger = (id: string, hours: number) =>
  setup.service
    .db('nfts')
    .where({ id })
    .update({ created_at: new Date(Date.now() + hours * 3_600_000) });

test('a mint that is older than the NFT is none of it: it waits for an operator, and others go on', async () => {
  const { id, hash } = await setup.acceptMinted();
  await makeYounger(id, 2);
  setup.work();
  const mining = setup.keepMining();
  await until('its reason', async () => (await setup.note(id))?.detail.includes(hash) === true);
  const others = await setup.accept(3);
  await untilAll(setup.service, others, 'minted');
  mining.stop();
  expect(await setup.note(id)).toMatchObject({ reason: 'token_exists' });
  expect(await setup.row(id)).toMatchObject({ mint_state: 'submitted', minted_tx: null });
  // It is in no transaction that could keep others waiting.
  await until('all is final', async () => {
    await setup.chain.mine();
    return (await setup.service.db('mint_transactions').whereNot('state', 'finalized')).length === 0;
  });
});

test('a mint that differs from the NFT by what clocks differ is its own', async () => {
  const { id, hash } = await setup.acceptMinted();
  await makeYounger(id, 30 / 3_600);
  expect(await setup.settle([id])).toEqual([]);
  expect((await setup.row(id)).minted_tx).toBe(hash);
});

test('a mint in a transaction of ours is ours whatever the times say', async () => {
  const [id = ''] = await setup.accept(1);
  await makeYounger(id, 2);
  // Nothing but the event shows that it was mined.
  setup.refusing.setFlaws(lies['lagging receipts']);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(setup.service, [id], 'minted');
  mining.stop();
  expect((await setup.note(id))?.detail ?? '').not.toContain('before this NFT was made');
  expect(await setup.settle([id])).toEqual([]);
  expect(await setup.service.db('mint_transactions')).toHaveLength(1);
  expect(await setup.note(id)).toBeUndefined();
});
