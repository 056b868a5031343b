import { getAddress } from 'ethers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandLine, settingsFor } from '../../cli/command-line.ts';
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

test("a company's own contract that mints a token more stops nobody: it is a disagreement of that contract", async () => {
  const { chain, service } = setup;
  const { db, companies, keys } = service;
  const generous = getAddress(await deploy(chain.rpcUrl, (await compileContracts())['Generous']));
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: generous });
  const acceptOnIt = async () => {
    const { body } = await service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
    return String(body.nftId);
  };
  const first = setup.work();
  const mining = setup.keepMining();
  const odd = await acceptOnIt();
  await untilAll(service, [odd, ...(await setup.accept(2))], 'minted');
  await chain.mine(5);
  first.child.kill('SIGTERM');
  await first.ended;
  // A worker compares what is final when it takes the lane, also where the database knows older blocks only, as a backup does.
  const { hash } = await chain.call<{ hash: string }>('eth_getBlockByNumber', '0x1', false);
  await db('network_finality').update({ number: '1', hash });
  setup.work();
  const later = [await acceptOnIt(), ...(await setup.accept(2))];
  await untilAll(service, later, 'minted');
  mining.stop();
  expect(await db('mint_recoveries')).toEqual([]);
  expect(await db('mint_disagreements')).toMatchObject([{ contract: generous, kind: 'extra_token' }]);
  const cli = commandLine({
    ...settingsFor(service.databaseUrl),
    SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
  });
  const { value } = await cli.json('mint', 'verify');
  expect(value).toMatchObject({ disagreeing: 2 });
  // Nothing is restored that was never there.
  await cli.json('recover', '--apply');
  expect(await db('rwas').where({ id: rwa.id }).first('total_nfts')).toEqual({ total_nfts: '2' });
});

test.each(['unclaimed', 'failed'] as const)(
  "a company's own contract that mints one of its NFTs which is %s stops nobody: a stored transaction is no lost past",
  async (state) => {
    const { chain, service } = setup;
    const { db, companies, keys } = service;
    const generous = getAddress(await deploy(chain.rpcUrl, (await compileContracts())['Generous']));
    const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: generous });
    const mint = async () => {
      const { body } = await service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
      return String(body.nftId);
    };
    const [hit, odd] = [await mint(), await mint()];
    // The contract mints this token, too.
    const { token_id: tokenId, recipient } = await db('nfts').where({ id: odd }).first();
    const asked =
      state === 'failed' ? { recipient } : { recipient: null, mint_chain_id: null, queued_at: null };
    await db('nfts')
      .where({ id: hit })
      .update({ token_id: (BigInt(tokenId) ^ (1n << 40n)).toString(), mint_state: state, ...asked });
    const first = setup.work();
    const mining = setup.keepMining();
    await untilAll(service, [odd, ...(await setup.accept(2))], 'minted');
    await until('finality', async () =>
      (await db('mint_transactions')).every((sent) => sent.state === 'finalized'),
    );
    first.child.kill('SIGTERM');
    await first.ended;
    setup.work();
    await untilAll(service, [await mint(), ...(await setup.accept(2))], 'minted');
    mining.stop();
    expect(await db('mint_recoveries')).toEqual([]);
    expect(await db('mint_disagreements')).toMatchObject([{ nft_id: hit, kind: 'not_recorded' }]);
    expect(await setup.cli.json('recover', '--apply')).toMatchObject({ value: { waiting: 0 } });
    expect((await db('nfts').where({ id: hit }).first()).mint_state).toBe('minted');
  },
);
