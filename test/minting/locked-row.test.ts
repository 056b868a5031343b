import { expect } from 'vitest';
import { addRwa } from '../rwa/samples.ts';
import { test } from '../support/mint-fixtures.ts';
import { startWorker, until, untilAll } from '../support/minting.ts';

test('a locked row delays its NFT alone, and costs one signature', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const accept = async (company: 'acme' | 'globex', count: number): Promise<string[]> => {
    const rwa = await addRwa(db, companies[company], { isClaimable: true, contractAddress: chain.contract });
    const mint = service.as(keys[company]).post(`/v1/api/rwa/${rwa.id}/mint`);
    const { body } = await mint.send({}).expect(200);
    return count === 1 ? [body.nftId] : [body.nftId, ...(await accept(company, count - 1))];
  };
  const [locked = '', ...others] = await accept('acme', 3);
  const ofOther = await accept('globex', 2);
  const holder = await db.transaction();
  await holder('nfts').where({ id: locked }).forUpdate();
  let signed = 0;
  const worker = await startWorker(service, chain, (step) => {
    if (step === 'signed') signed += 1;
  });
  const mining = setInterval(() => void chain.mine(), 100);
  try {
    await untilAll(service, [...others, ...ofOther], 'minted');
    const sent = async () => (await db('mint_transactions')).length;
    // Many polls later, too.
    await until('more blocks', async () => Number(await chain.call('eth_blockNumber')) > 30, 20);
    expect(signed).toBeLessThanOrEqual((await sent()) + 1);
    expect((await db('nfts').where({ id: locked }).first()).mint_state).toBe('queued');
    await holder.rollback();
    await untilAll(service, [locked], 'minted');
  } finally {
    clearInterval(mining);
    if (!holder.isCompleted()) await holder.rollback();
    await worker.stop();
  }
});

test('a locked row keeps no other NFT of its transaction from being minted and final', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: chain.contract });
  const accept = async (): Promise<string> =>
    (await service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200)).body.nftId;
  const [locked, ...others] = [await accept(), await accept(), await accept()];
  await chain.call('evm_setAutomine', false);
  const worker = await startWorker(service, chain);
  const holder = await db.transaction();
  let mining: NodeJS.Timeout | undefined;
  const openLinks = async () =>
    (await db('mint_transaction_nfts').where({ nft_id: locked, state: 'open' }).first())?.transaction_id;
  try {
    await untilAll(service, [locked, ...others], 'submitted');
    const sent = await openLinks();
    await holder.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
    await holder('nfts').where({ id: locked }).forUpdate();
    mining = setInterval(() => void chain.mine(), 100);
    await untilAll(service, others, 'minted');
    await until('finality', async () => {
      const { state } = await db('mint_transactions').where({ id: sent }).first();
      return state === 'finalized';
    });
    expect((await db('nfts').where({ id: locked }).first()).mint_state).toBe('submitted');
    // The lane goes on with others.
    await untilAll(service, [await accept()], 'minted');
    await holder.rollback();
    await untilAll(service, [locked], 'minted');
    expect(await openLinks()).toBeUndefined();
  } finally {
    clearInterval(mining);
    if (!holder.isCompleted()) await holder.rollback();
    await worker.stop();
    await chain.call('evm_setAutomine', true);
  }
});
