import { id } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { compileContracts } from '../../support/solidity.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

const unverified = '0x00000000000000000000000000000000DeaDBeef';
let setup: MintSetup;
/** The code of our own contract. */
let tallystick: string;

beforeEach(async () => {
  setup = await createMintSetup();
  const { chain } = setup;
  tallystick = await chain.call('eth_getCode', chain.contract, 'latest');
  const picky = await deploy(chain.rpcUrl, (await compileContracts())['Picky']);
  await chain.call('anvil_setCode', chain.contract, await chain.call('eth_getCode', picky, 'latest'));
  await chain.mine(5);
});
afterEach(() => setup.close());

const acme = () => setup.service.as(setup.service.keys.acme);
const row = (id: string) => setup.service.db('nfts').where({ id }).first();
const lane = () => setup.service.db('mint_lanes').first();
const contractPause = async () => (await setup.service.db('mint_contracts').first())?.pause_reason;

/** Accepts a mint to somebody whom the contract does not mint to. */
async function acceptUnverified(): Promise<string> {
  const [{ id: rwaId }] = await setup.service.db('rwas').orderBy('created_at', 'desc');
  const { body } = await acme().post(`/v1/api/rwa/${rwaId}/mint`).send({ recipient: unverified }).expect(200);
  return body.nftId;
}

describe('a contract that refuses one recipient', () => {
  test('keeps nobody waiting: that NFT fails with the reason, and may be asked for again', async () => {
    const refused = await acceptUnverified();
    const others = await setup.accept(3);
    setup.work();
    await untilAll(setup.service, others, 'submitted');
    expect(await row(refused)).toMatchObject({ mint_state: 'queued', mint_error: null });
    const mining = setup.keepMining();
    await until('its end', async () => (await row(refused)).mint_state === 'failed');
    mining.stop();
    const { mint_error: reason } = await row(refused);
    expect(reason).toContain(`refuses to mint to ${unverified}: execution reverted`);
    expect((await lane()).pause_reason).toBeNull();
    expect(await setup.service.db('mint_transaction_nfts').where({ nft_id: refused })).toEqual([]);
    const { body } = await acme().get(`/v1/api/nft/${refused}`).expect(200);
    expect(body).toMatchObject({ claimStatus: 'failed', mintedTx: null });
    const { secret } = body;
    await acme().post(`/v1/api/nft/${refused}/mint`).send({ secret }).expect(200); // to the treasury
    expect(await setup.settle([refused, ...others])).toEqual([]);
  });

  test('is known by the next mint, where nobody else was there to compare', async () => {
    const refused = await acceptUnverified();
    setup.work();
    await until('a pause', async () => (await contractPause()) === 'contract_refuses');
    expect(await row(refused)).toMatchObject({ mint_state: 'queued', mint_error: null });
    const others = await setup.accept(1);
    const mining = setup.keepMining();
    await until('its end', async () => (await row(refused)).mint_state === 'failed');
    mining.stop();
    expect(await setup.settle(others)).toEqual([]);
    await until('no pause', async () => (await contractPause()) === null);
  });
});

test('a role that is taken and given back fails nobody', async () => {
  const { chain, signers } = setup;
  await chain.call('anvil_setCode', chain.contract, tallystick);
  const role = id('MINTER_ROLE');
  const ids = await setup.accept(4);
  await chain.admin('revokeRole', role, signers[0]);
  setup.work();
  const mining = setup.keepMining(50);
  for (let round = 0; round < 5; round += 1) {
    await until('a pause', async () => (await contractPause()) === 'contract_refuses');
    const { pause_detail: detail } = await setup.service.db('mint_contracts').first();
    expect(detail).toContain(`AccessControlUnauthorizedAccount(account ${signers[0]}, neededRole ${role})`);
    await chain.admin('grantRole', role, signers[0]);
    ids.push(...(await setup.accept(2)));
    await untilAll(setup.service, ids, 'minted', 30);
    await chain.admin('revokeRole', role, signers[0]);
    ids.push(...(await setup.accept(2)));
  }
  await chain.admin('grantRole', role, signers[0]);
  mining.stop();
  expect(await setup.settle(ids)).toEqual([]);
});
