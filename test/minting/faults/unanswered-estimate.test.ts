import { afterEach, beforeEach, expect, test } from 'vitest';
import { addMintable, treasury } from '../../rwa/mint-requests.ts';
import { until, untilAll } from '../../support/minting.ts';
import { type Flaw, fieldOf } from '../../support/node/flaw.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

const stuck = `0x${'5c'.repeat(20)}`;
/** Never says what a transaction to this contract would do. */
const neverEstimates: Flaw = async (call, pass) =>
  call.method === 'eth_estimateGas' && String(fieldOf(call.params[0], 'to')).toLowerCase() === stuck
    ? 'hang'
    : pass(call);

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup({ nodes: [[neverEstimates]] });
});
afterEach(() => setup.close());

const contractRow = () =>
  setup.service.db('mint_contracts').whereRaw('lower(contract) = ?', [stuck.toLowerCase()]).first();

test('a contract of which the node never says what a mint would do keeps no other from minting', async () => {
  const { chain, service } = setup;
  await chain.call('anvil_setCode', stuck, await chain.call('eth_getCode', chain.contract, 'latest'));
  const { nft, path, secret } = await addMintable(service, 'globex', { contractAddress: stuck });
  await service.as(service.keys.globex).post(path).send({ secret, recipient: treasury }).expect(200);
  setup.work();
  const mining = setup.keepMining();
  await until('the reason', async () =>
    /do not say what a mint of/.test((await contractRow())?.pause_detail ?? ''),
  );
  expect((await contractRow()).pause_reason).toBe('contract_unanswered');
  for (let round = 0; round < 3; round += 1) {
    await untilAll(service, await setup.accept(3), 'minted');
    expect((await contractRow()).pause_reason).toBe('contract_unanswered');
  }
  const [row] = await service.db('nfts').where({ id: nft.id });
  expect(row.mint_state).toBe('queued');
  mining.stop();
});
