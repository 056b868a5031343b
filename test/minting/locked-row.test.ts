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
