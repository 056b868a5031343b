import { afterEach, beforeEach, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { lies } from '../../support/node/lies.ts';
import { createRefusedSetup, type RefusedSetup } from '../refused-setup.ts';

let setup: RefusedSetup;
beforeEach(async () => {
  setup = await createRefusedSetup();
});
afterEach(() => setup.close());

const stranger = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';

/** The NFT's row is as much younger than everything that is on the chain. */
const makeYounger = (id: string, hours: number) =>
  setup.service
    .db('nfts')
    .where({ id })
    .update({ created_at: new Date(Date.now() + hours * 3_600_000) });

test.each([
  ['half a minute', 30 / 3_600],
  ['two hours', 2],
])(
  'a mint to the recipient, %s before the NFT by the clocks, is its own, whoever sent it',
  async (_, hours) => {
    const { id, hash } = await setup.acceptMinted();
    await makeYounger(id, hours);
    expect(await setup.settle([id])).toEqual([]);
    expect((await setup.row(id)).minted_tx).toBe(hash);
  },
);

test('a mint to somebody else fails the NFT once it is final, and mint retry gives it another token', async () => {
  const [id = ''] = await setup.accept(1);
  const { token_id: taken } = await setup.row(id);
  await setup.chain.mintByHand(stranger, taken);
  await makeYounger(id, 2);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(setup.service, [id], 'failed');
  expect((await setup.service.db('nfts').where({ id }).first()).mint_error).toContain(stranger);
  const retried = await setup.cli.json('mint', 'retry', id);
  expect(retried).toMatchObject({ status: 0, value: { state: 'queued', oldTokenId: taken } });
  await untilAll(setup.service, [id], 'minted');
  mining.stop();
  expect((await setup.row(id)).token_id).toBe(retried.value.tokenId);
  await until('all is final', async () => {
    await setup.chain.mine();
    return (await setup.service.db('mint_transactions').whereNot('state', 'finalized')).length === 0;
  });
  expect([...(await setup.chain.mints()).values()].map((mints) => mints.length)).toEqual([1, 1]);
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
  expect(await setup.settle([id])).toEqual([]);
  expect(await setup.service.db('mint_transactions')).toHaveLength(1);
  expect(await setup.note(id)).toBeUndefined();
});
