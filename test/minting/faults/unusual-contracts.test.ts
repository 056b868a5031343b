import { getAddress } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addRwa } from '../../rwa/samples.ts';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { compileContracts } from '../../support/solidity.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const row = (id: string) => setup.service.db('nfts').where({ id }).first();
const reverted = () => setup.service.db('mint_transactions').where({ state: 'reverted' });

/** Accepts a mint of an RWA whose contract is this. */
async function acceptOn(contract: string): Promise<string> {
  const { db, companies, keys } = setup.service;
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: contract });
  const { body } = await setup.service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
  return body.nftId;
}

const deployed = async (name: string) =>
  getAddress(await deploy(setup.chain.rpcUrl, (await compileContracts())[name]));

test('a contract that uses more gas for each further token: no batch runs out of gas', async () => {
  const { chain } = setup;
  const hungry = await deployed('Hungry');
  await chain.call('anvil_setCode', chain.contract, await chain.call('eth_getCode', hungry, 'latest'));
  await chain.mine(5);
  const ids = await setup.accept(60);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(setup.service, ids, 'minted', 40);
  mining.stop();
  expect(await reverted()).toEqual([]);
  const [sent] = await setup.service.db('mint_transactions').count();
  expect(Number(sent?.['count'])).toBeLessThan(20);
  expect(await setup.settle(ids)).toEqual([]);
});

describe('a contract that is none that mints', () => {
  test.each(['no code', 'a fallback that answers anything'])(
    'for it has %s: its mint fails with that reason, and others go on',
    async (what) => {
      const bare = '0x00000000000000000000000000000000DeaDBeef';
      const contract = what === 'no code' ? getAddress(bare) : await deployed('Yes');
      await setup.chain.mine(5);
      const unfit = await acceptOn(contract);
      const others = await setup.accept(2);
      setup.work();
      const mining = setup.keepMining();
      await untilAll(setup.service, others, 'minted', 30);
      await until('its end', async () => (await row(unfit)).mint_state === 'failed');
      mining.stop();
      expect((await row(unfit)).mint_error).toContain(`${contract} is no contract that mints: it`);
      expect(await setup.service.db('mint_transactions').where({ contract })).toEqual([]);
      // The poll that found it says so once more.
      const lane = () => setup.service.db('mint_lanes').first();
      await until('the lane stands for nothing', async () => (await lane()).pause_reason === null);
      expect(await setup.settle(others)).toEqual([]);
    },
  );

  test('since it lost its code: what was sent to it fails in the end', async () => {
    const { chain, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(2);
    setup.work();
    await untilAll(service, ids, 'submitted');
    const code = await chain.call('eth_getCode', chain.contract, 'latest');
    await chain.call('anvil_setCode', chain.contract, '0x');
    await chain.call('evm_setAutomine', true);
    const mining = setup.keepMining();
    await untilAll(service, ids, 'failed', 30);
    expect((await row(ids[0] ?? '')).mint_error).toContain('it has no code');
    mining.stop();
    await chain.call('anvil_setCode', chain.contract, code);
    expect(await setup.settle(await setup.accept(1))).toEqual([]);
  });
});
