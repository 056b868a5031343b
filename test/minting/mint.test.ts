import { describe, expect } from 'vitest';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { addRwa } from '../rwa/samples.ts';
import { perFile } from '../support/fixtures.ts';
import { test as base } from '../support/mint-fixtures.ts';
import { faults, startWorker, until, untilAll } from '../support/minting.ts';
import type { Client } from '../support/service.ts';

const test = base
  .extend('chain', perFile, ({ mintChain }) => mintChain)
  .extend('service', perFile, ({ mintService }) => mintService)
  .extend('worker', { ...perFile, auto: true }, async ({ service, chain }, { onCleanup }) => {
    const worker = await startWorker(service, chain);
    onCleanup(() => worker.stop());
    return worker;
  })
  .extend('rwa', perFile, ({ service, chain }) =>
    addRwa(service.db, service.companies.acme, { isClaimable: true, contractAddress: chain.contract }),
  );

const accept = async (acme: Client, rwa: OperatorRwa, count: number) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { body } = await acme.post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
      return body.nftId as string; // as documented
    }),
  );

describe('an accepted mint', () => {
  test('is submitted at once, minted at the depth of the network and counted then', async ({
    chain,
    service,
    acme,
    rwa,
  }) => {
    const [id = ''] = await accept(acme, rwa, 1);
    await untilAll(service, [id], 'submitted');
    await until('a block', async () => (await chain.mints()).size === 1);
    const { body: before } = await acme.get(`/v1/api/nft/${id}`).expect(200);
    expect(before).toMatchObject({
      claimStatus: 'submitted',
      mintedAt: null,
      mintedTx: null,
      mintedBlock: null,
    });
    await until('minting', async () => {
      await chain.mine();
      return (await service.db('nfts').where({ id, mint_state: 'minted' })).length === 1;
    });
    const { body: after } = await acme.get(`/v1/api/nft/${id}`).expect(200);
    expect(after).toMatchObject({
      claimStatus: 'minted',
      mintedAt: expect.any(String),
      rwa: { claimedNfts: 1 },
    });
    expect(await faults(service, chain, [id])).toEqual([]);
    const { body: metadata } = await acme.get(`/v1/api/metadata/31337/${chain.contract}/${after.tokenId}`);
    expect(metadata.name).toContain('#000001');
  });

  test('of many: batches, each NFT once, and final in the end', async ({ chain, service, acme, rwa }) => {
    const ids = await accept(acme, rwa, 120);
    // The node makes a block of each transaction, so those of the first may be minted before the last are submitted.
    await until(
      'a transaction for each',
      async () => (await service.db('nfts').whereIn('id', ids).where('mint_state', 'queued')).length === 0,
    );
    // `submitted` says that a transaction is stored; it may reach the node later, so blocks must go on coming.
    const lookAfterABlock = async (rows: Promise<unknown[]>) => {
      await chain.mine();
      return (await rows).length === 0;
    };
    await until('minting', () =>
      lookAfterABlock(service.db('nfts').whereIn('id', ids).whereNot('mint_state', 'minted')),
    );
    expect(await faults(service, chain, ids)).toEqual([]);
    await until('finality', () =>
      lookAfterABlock(service.db('mint_transactions').whereNot('state', 'finalized')),
    );
    const [links] = await service.db('mint_transaction_nfts').whereNot('state', 'minted').count();
    expect(links).toEqual({ count: '0' });
    const transactions = await service.db('mint_transactions').orderBy('nonce');
    expect(transactions.map(({ nonce }) => Number(nonce))).toEqual(transactions.map((_, index) => index));
    expect(transactions.length).toBeLessThan(60);
  });
});
