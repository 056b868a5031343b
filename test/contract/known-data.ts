import { randomUUID } from 'node:crypto';
import { numberNews } from '../../src/news/feed/sequencer-store.ts';
import type { TestService } from '../support/service.ts';
import type { Ids } from './operations.ts';

/** Creates what every company owns in these tests: an event with an attendee, an RWA, NFTs, a token. */
export async function makeKnownData(service: TestService, company: 'acme' | 'globex'): Promise<Ids> {
  const client = service.as(service.keys[company]);
  const event = await client.post('/events/v1/api/event').send({ name: 'Opening' }).expect(201);
  const attendees = `/events/v1/api/event/${event.body.id}/attendees`;
  await client.post(attendees).send({ attendeeId: 'first' }).expect(201);

  const [rwa] = await service
    .db('rwas')
    .insert({
      company_id: service.companies[company],
      name: 'Vintage barrel',
      type: 'whisky',
      chain_id: 31337,
      contract_address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
      is_claimable: true,
      claim_page: true,
    })
    .returning('id');
  const issued = await client.post(`/v1/api/rwa/${rwa.id}/nfts`).send({ count: 2 }).expect(200);
  const [nft, minted] = issued.body.nfts;
  await service
    .db('nfts')
    .where({ id: minted.id })
    .update({
      mint_state: 'minted',
      recipient: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
      minted_at: new Date('2027-01-01T00:00:00Z'),
      minted_tx: `0x${'ab'.repeat(32)}`,
      minted_block: '12',
    });
  await service.db('rwas').where({ id: rwa.id }).update({ claimed_nfts: 1 });
  const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  const { endpointId, sequence } = await makeDelivery(service, company);
  return {
    snapshotId: await makeSnapshot(service, company, rwa.id, wallet),
    eventId: event.body.id,
    attendeeId: 'first',
    rwaId: rwa.id,
    nftId: nft.id,
    secret: nft.secret,
    token: `31337/0x5FbDB2315678afecb367f032d93F642f64180aa3/${minted.tokenId}`,
    chainId: '31337',
    wallet: wallet.toLowerCase(),
    endpointId,
    sequence,
  };
}

/** Stores a snapshot in which a wallet has a token, and how far the ledger of the contract is. */
async function makeSnapshot(
  { db, companies }: TestService,
  company: 'acme' | 'globex',
  rwaId: string,
  wallet: string,
) {
  const hash = `0x${'cd'.repeat(32)}`;
  const time = new Date('2027-01-01T00:00:00Z');
  const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
  await db('nft_ledgers')
    .insert({ chain_id: 31337, contract, first_block: 1, number: 12, hash, time })
    .onConflict()
    .ignore();
  const [{ id }] = await db('ownership_snapshots')
    .insert({ company_id: companies[company], rwa_id: rwaId, block_number: 12 })
    .returning('id');
  await db('snapshot_holders').insert({ snapshot_id: id, wallet, token_ids: ['1'], proof: [] });
  await db('ownership_snapshots').where({ id }).update({
    block_hash: hash,
    block_time: time,
    token_count: 1,
    holder_count: 1,
    merkle_root: hash,
    taken_at: time,
  });
  return id;
}

/** An endpoint of the company, which may have few, and news that were sent to it. */
async function makeDelivery(service: TestService, company: 'acme' | 'globex') {
  const client = service.as(service.keys[company]);
  const { body: endpoints } = await client.get('/news/v1/api/endpoint').expect(200);
  for (const { id } of endpoints.slice(3)) await client.delete(`/news/v1/api/endpoint/${id}`).expect(204);
  const url = `https://${randomUUID()}.example/news`;
  const { body } = await client.post('/news/v1/api/endpoint').send({ url }).expect(201);
  const endpointId: string = body.id;
  while ((await numberNews(service.db, 1_000)) > 0);
  const { position, subject } = await service
    .db('news')
    .where({ company_id: service.companies[company] })
    .whereNotNull('position')
    .first();
  await service.db('news_deliveries').insert({ endpoint_id: endpointId, position, subject, delivered: true });
  return { endpointId, sequence: String(position) };
}
