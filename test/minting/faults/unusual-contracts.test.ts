import { getAddress } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addRwa } from '../../rwa/samples.ts';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll, untilInPool } from '../../support/minting.ts';
import { compileContracts } from '../../support/solidity.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const codeOf = (contract: string) => setup.chain.call<string>('eth_getCode', contract, 'latest');
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
    'for it has %s: its mint waits with that reason, others go on, and it is minted once a contract is there',
    async (what) => {
      const { chain, service } = setup;
      const bare = '0x00000000000000000000000000000000DeaDBeef';
      const contract = what === 'no code' ? getAddress(bare) : await deployed('Yes');
      await chain.mine(5);
      const waiting = await acceptOn(contract);
      const others = await setup.accept(2);
      setup.work();
      const mining = setup.keepMining();
      await untilAll(service, others, 'minted', 30);
      const paused = () => service.db('mint_contracts').where({ contract }).first();
      await until('the reason', async () => (await paused())?.pause_reason === 'contract_refuses');
      expect((await paused()).pause_detail).toContain(`${contract} is no contract that mints: it`);
      const head = async () => Number(await chain.call<string>('eth_blockNumber'));
      const before = await head();
      await until('more final blocks', async () => (await head()) > before + 10, 30);
      expect((await row(waiting)).mint_state).toBe('queued');
      expect(await service.db('mint_transactions').where({ contract })).toEqual([]);
      // It is no matter of the lane.
      expect((await service.db('mint_lanes').first()).pause_reason).toBeNull();
      const open = await deployed('Hungry');
      await chain.call('anvil_setCode', contract, await chain.call('eth_getCode', open, 'latest'));
      await untilAll(service, [waiting], 'minted', 30);
      mining.stop();
      expect(await setup.settle(others)).toEqual([]);
    },
  );

  test.each(['no code', 'a fallback that answers anything'])(
    'for it has %s: its mint can be taken back',
    async (what) => {
      const { chain, cli, service } = setup;
      const bare = '0x00000000000000000000000000000000DeaDBeef';
      const contract = what === 'no code' ? getAddress(bare) : await deployed('Yes');
      await chain.mine(5);
      const waiting = await acceptOn(contract);
      setup.work();
      const paused = () => service.db('mint_contracts').where({ contract }).first();
      await until('the reason', async () => (await paused())?.pause_reason === 'contract_refuses');
      expect(await cli.json('mint', 'cancel', waiting)).toMatchObject({ status: 0 });
      expect((await row(waiting)).mint_state).toBe('unclaimed');
      // It may have been one before, and have an event of the mint.
      await cli.run('mint', 'pause');
      const again = await acceptOn(chain.contract);
      const { recipient, token_id: tokenId } = await row(again);
      await chain.mintByHand(recipient, tokenId);
      await chain.call('anvil_setCode', chain.contract, what === 'no code' ? '0x' : await codeOf(contract));
      const { status, err } = await cli.run('mint', 'cancel', again);
      expect({ status, err }).toEqual({
        status: 2,
        err: expect.stringContaining(`has an owner, ${recipient}`),
      });
    },
  );

  test('since it lost its code: what was sent to it waits, and is minted once the code is there again', async () => {
    const { chain, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(2);
    setup.work();
    await untilAll(service, ids, 'submitted');
    const code = await chain.call('eth_getCode', chain.contract, 'latest');
    await chain.call('anvil_setCode', chain.contract, '0x');
    await chain.call('evm_setAutomine', true);
    const mining = setup.keepMining();
    const reasons = () => service.db('mint_notes').distinct().pluck('reason');
    await until('the reason', async () => (await reasons()).join() === 'contract_nonsense', 30);
    const later = await setup.accept(1);
    const paused = () => service.db('mint_contracts').where({ contract: chain.contract }).first();
    await until('the pause', async () => (await paused())?.pause_reason === 'contract_refuses');
    expect((await paused()).pause_detail).toContain('it has no code');
    mining.stop();
    await chain.call('anvil_setCode', chain.contract, code);
    expect(await setup.settle([...ids, ...later])).toEqual([]);
  });
});

test('an NFT that somebody else mints after a contract passed it over is final with the later block', async () => {
  const { chain, service } = setup;
  await service.db('networks').update({ confirmations: 1 });
  await chain.call('evm_setAutomine', false);
  const [id = ''] = await setup.accept(1);
  setup.work();
  await untilAll(service, [id], 'submitted');
  await untilInPool(chain);
  await setup.killAll();
  const { recipient, token_id: tokenId } = await row(id);
  const code = await codeOf(chain.contract);
  await chain.call('anvil_setCode', chain.contract, '0x00');
  await chain.mine();
  await chain.call('anvil_setCode', chain.contract, code);
  await chain.call('evm_setAutomine', true);
  await chain.mintByHand(recipient, tokenId);
  setup.work();
  await untilAll(service, [id], 'minted');
  const final = async () => Number((await service.db('network_finality').first())?.number ?? -1);
  const isFinalized = async () => (await service.db('mint_transactions').first()).state === 'finalized';
  while (!(await isFinalized())) {
    const before = await final();
    await chain.mine();
    await until('a poll', async () => (await final()) > before || (await isFinalized()));
  }
  expect(await final()).toBeGreaterThanOrEqual(Number((await row(id)).minted_block));
});
