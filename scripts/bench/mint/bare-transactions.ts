import { createHash } from 'node:crypto';
import knexPackage from 'knex';
import { chainId } from './bench-chain.ts';

/*
 * What accepting a mint comes to when nothing is checked: a program of its own that writes what an accepted
 * mint writes, in plain Knex, one transaction each.
 */

export type BareTask = { readonly nfts: readonly { readonly id: string; readonly recipient: string }[] };
export type BareTime = { readonly seconds: number };

const [url = '', concurrency = '1'] = process.argv.slice(2);
const { knex } = knexPackage; // CommonJS
const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 10 } });

async function queue({ id, recipient }: BareTask['nfts'][number]): Promise<void> {
  const body = {
    status: 'queued',
    nftId: id,
    message: 'The NFT is queued for minting.',
    statusUrl: `/v1/api/nft/${id}`,
  };
  await db.transaction(async (tx) => {
    await tx('nfts')
      .where({ id })
      .update({ mint_state: 'queued', recipient, mint_chain_id: chainId, queued_at: tx.fn.now() });
    await tx('pgboss.job').insert({
      name: 'mint-nft',
      data: JSON.stringify({ key: id }),
      singleton_key: id,
      policy: 'exclusive',
      retry_limit: 1_000,
      retry_delay: 1,
      retry_backoff: true,
      retry_delay_max: 30,
      expire_seconds: 120,
      heartbeat_seconds: 10,
    });
    await tx('idempotency_records').insert({
      company_id: 'bare',
      method: 'POST',
      path: `/v1/api/nft/${id}/mint`,
      key: id,
      request_hash: createHash('sha256').update(id).digest(),
      status: 200,
      answer: JSON.stringify(body),
      expires_at: tx.raw("now() + interval '24 hours'"),
    });
  });
}

process.on('message', async ({ nfts }: BareTask) => {
  let next = 0;
  const started = performance.now();
  const work = async () => {
    for (let nft = nfts[next++]; nft !== undefined; nft = nfts[next++]) await queue(nft);
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, work));
  const time: BareTime = { seconds: (performance.now() - started) / 1_000 };
  process.send?.(time);
});
process.once('disconnect', () => void db.destroy());
