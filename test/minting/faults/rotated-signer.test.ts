import { afterEach, beforeEach, expect, test } from 'vitest';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { compileContracts } from '../../support/solidity.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup({ minters: 2 });
});
afterEach(() => setup.close());

const codeOf = (contract: string) => setup.chain.call<string>('eth_getCode', contract, 'latest');
const setCode = (code: string) => setup.chain.call('anvil_setCode', setup.chain.contract, code);
const allFinal = () =>
  until('finality', async () => {
    const open = await setup.service.db('mint_transactions').whereIn('state', ['submitted', 'confirmed']);
    return open.length === 0;
  });
const reasonsOf = async (ids: readonly string[]): Promise<string[]> => {
  const { rows } = await setup.service.db.raw(
    'SELECT DISTINCT nft_mint_reason(id, mint_state, mint_chain_id) AS reason FROM nfts WHERE id = ANY (?::uuid[])',
    [[...ids]],
  );
  return rows.map(({ reason }: { reason: string }) => reason);
};

/** A mint that failed, and two that are minted, all by the old signer. */
async function mintAsOld(oldKey: string) {
  const { chain, service } = setup;
  const code = await codeOf(chain.contract);
  await setCode(await codeOf(await deploy(chain.rpcUrl, (await compileContracts())['Idle'])));
  await chain.mine(5);
  const [failed = ''] = await setup.accept(1);
  setup.workAs(oldKey);
  const mining = setup.keepMining();
  await untilAll(service, [failed], 'failed', 60);
  await allFinal();
  await setCode(code);
  const minted = await setup.accept(2);
  await untilAll(service, minted, 'minted');
  await allFinal();
  mining.stop();
  return { code, failed, minted };
}

test('a reopened transaction of a signer that was rotated away says so, and goes on when the signer is named again', async () => {
  const { chain, cli, service } = setup;
  const [oldKey = '', newKey = ''] = chain.keys;
  const [old = ''] = setup.signers;
  const { code, failed, minted } = await mintAsOld(oldKey);
  // As the documents say: the lane is paused, then the key is taken out of the settings.
  await setup.killAll();
  await cli.run('mint', 'pause', '--chain', '31337', '--signer', old);
  await service
    .db('mint_lanes')
    .where({ signer: old })
    .update({ staffed_at: new Date(0) });
  setup.workAs(newKey);
  const byNew = await setup.accept(1);
  const before = setup.keepMining();
  await untilAll(service, byNew, 'minted');
  await allFinal();
  before.stop();
  await setup.killAll();

  const first = Math.min(...(await service.db('mint_transactions').pluck('block_number')).map(Number));
  await chain.call('anvil_reorg', Number(await chain.call<string>('eth_blockNumber')) - first + 1, []);
  await setCode(code);
  await chain.mine(5);
  expect(await setup.recover()).toBe(true);
  setup.workAs(newKey);
  const mining = setup.keepMining();
  await untilAll(service, byNew, 'minted');
  await until('the reason', async () => {
    const reasons = await reasonsOf([failed, ...minted]);
    return reasons.length === 1 && reasons[0] === 'no_signer';
  });
  const { detail } = await service.db('mint_notes').where({ nft_id: failed }).first();
  expect(detail).toContain(old);
  mining.stop();

  await setup.killAll();
  setup.work();
  expect(await setup.settle([...minted, ...byNew], { isConductJudged: false })).toEqual([]);
  const { token_id: tokenId, mint_state: state } = await service.db('nfts').where({ id: failed }).first();
  expect([state, (await chain.mints()).has(tokenId)]).toEqual(['failed', false]);
  expect(await service.db('mint_notes')).toEqual([]);
});
