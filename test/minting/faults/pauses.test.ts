import { getAddress } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findStanding } from '../../../src/rwa/minting/lane-status-store.ts';
import { mintReasons } from '../../../src/rwa/minting/mint-reason.ts';
import { addMintable, treasury } from '../../rwa/mint-requests.ts';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { compileContracts } from '../../support/solidity.ts';
import { useKey } from '../fault-kinds.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const reason = async () => (await setup.service.db('mint_lanes').first()).pause_reason;
const paused = (wanted: string | null) => until(`pause ${wanted}`, async () => (await reason()) === wanted);
const states = async () =>
  (await setup.service.db('nfts').distinct('mint_state')).map(({ mint_state: state }) => state);

describe('a lane pauses, loses nothing, and goes on by itself when', () => {
  test('gas costs more than the cap', async () => {
    const ids = await setup.accept(3);
    await setup.chain.call('anvil_setNextBlockBaseFeePerGas', '0x2540be400');
    await setup.chain.mine();
    setup.work(undefined, { MINT_MAX_FEE_GWEI: '2' });
    await paused('fee_above_cap');
    expect(await states()).toEqual(['queued']);
    const mining = setup.keepMining(50);
    await untilAll(setup.service, ids, 'minted', 40);
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('an operator stopped it', async () => {
    await setup.service.db('mint_lanes').update({ stopped_by_operator: true });
    const ids = await setup.accept(3);
    setup.work();
    await paused('operator');
    await setup.service.db('mint_lanes').update({ stopped_by_operator: false });
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('somebody else uses the key: its nonces are left to the other, and no NFT is minted twice', async () => {
    const { chain } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(2);
    setup.work();
    await untilAll(setup.service, ids, 'submitted');
    // The other takes the very nonce of the first transaction that waits, and the one after the last.
    const sent = (await setup.service.db('mint_transactions')).map((row) => Number(row.nonce));
    for (const nonce of [Math.min(...sent), Math.max(...sent) + 1]) {
      await useKey(setup, chain.keys[0] ?? '', nonce);
    }
    await chain.mine();
    const more = await setup.accept(2);
    await paused('foreign_nonce');
    expect(await setup.settle([...ids, ...more])).toEqual([]);
    const ends = await setup.service.db('mint_transactions').orderBy('nonce');
    expect(ends.filter(({ state }) => state === 'lost').map(({ nonce }) => Number(nonce))).toEqual([
      Math.min(...sent),
    ]);
  });
});

test('a contract that refuses is a matter of its own NFTs: operators are ready, and no other company sees its reason', async () => {
  const { chain, service } = setup;
  const refusing = getAddress(await deploy(chain.rpcUrl, (await compileContracts())['Picky']));
  const ofAcme = await addMintable(service, 'acme', { contractAddress: refusing });
  // The contract mints to none but the few that it knows.
  const recipient = '0x00000000000000000000000000000000DeaDBeef';
  await service
    .as(service.keys.acme)
    .post(ofAcme.path)
    .send({ secret: ofAcme.secret, recipient })
    .expect(200);
  await chain.mine(5);
  setup.work();
  const noteOf = async (company: 'acme' | 'globex', nftId: string) =>
    (await service.as(service.keys[company]).get(`/v1/api/nft/${nftId}`).expect(200)).body.mintNote;
  await until(
    'the reason',
    async () => (await noteOf('acme', ofAcme.nft.id)) === mintReasons.contract_refuses.note,
  );
  expect(await findStanding(service.db)).toEqual({ isAll: false });
  expect(await reason()).toBeNull();
  const ofGlobex = await addMintable(service, 'globex', { contractAddress: chain.contract });
  await setup.chain.call('evm_setAutomine', false);
  await service
    .as(service.keys.globex)
    .post(ofGlobex.path)
    .send({ secret: ofGlobex.secret, recipient: treasury })
    .expect(200);
  expect(await noteOf('globex', ofGlobex.nft.id)).toBeNull();
  const mining = setup.keepMining();
  await untilAll(service, [ofGlobex.nft.id], 'minted');
  mining.stop();
  expect(await noteOf('acme', ofAcme.nft.id)).toBe(mintReasons.contract_refuses.note);
});
