import { describe, expect } from 'vitest';
import { isOutage } from '../../src/db/connection/outage.ts';
import type { JobSender } from '../../src/jobs/queue.ts';
import { createMintAcceptor, type MintRequest } from '../../src/rwa/minting/accept/mint-acceptor.ts';
import { test } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { addMintable, queuedKeys } from './mint-requests.ts';
import { recipient, serviceVault } from './samples.ts';

// What happens to a set of mints when something goes wrong in the middle of its transaction.

/** An acceptor over the real queue; `interfere` is called with the NFTs of each transaction, before their jobs. */
function createAcceptor(
  service: TestService,
  interfere: (nftIds: readonly string[], tx: Parameters<JobSender['enqueue']>[2]) => unknown,
) {
  const transactions: (readonly string[])[] = [];
  let wakes = 0;
  const acceptor = createMintAcceptor({
    db: service.db,
    vault: serviceVault,
    toAnswer: (nftId) => ({ nftId }),
    wake: () => {
      wakes += 1;
    },
    jobs: {
      async enqueue(queue, keys, tx) {
        transactions.push(keys);
        await interfere(keys, tx);
        await service.parts.jobs.enqueue(queue, keys, tx);
      },
    },
  });
  return { ...acceptor, transactions, wakes: () => wakes };
}

async function addRequests(service: TestService, count: number): Promise<MintRequest[]> {
  const mintables = await Promise.all(Array.from({ length: count }, () => addMintable(service)));
  const companyId = service.companies.acme;
  return mintables.map(({ nft, secret }) => ({
    companyId,
    nftId: nft.id,
    secret,
    recipient,
    by: { kind: 'key', keyId: 'key', address: '::1', requestId: 'r' } as const,
    idempotency: undefined,
    caller: { kind: 'key', name: 'key' } as const,
  }));
}

const idsOf = (requests: readonly MintRequest[]) => requests.map(({ nftId }) => nftId);
const statesOf = async (service: TestService, requests: readonly MintRequest[]): Promise<string[]> => {
  const rows = await service.db('nfts').whereIn('id', idsOf(requests));
  const states = new Map(rows.map((row) => [row.id, row.mint_state]));
  return idsOf(requests).map((id) => states.get(id));
};

test('mints that come at once share a transaction, a statement for each step, and one wake', async ({
  service,
}) => {
  const { mint, transactions, wakes } = createAcceptor(service, () => {});
  const requests = await addRequests(service, 8);
  const accepted = await Promise.all(requests.map(mint));
  expect(accepted).toEqual(idsOf(requests).map((nftId) => ({ nftId, isReplay: false })));
  expect(transactions).toEqual([idsOf(requests)]);
  expect(wakes()).toBe(1);
  const rows = await service
    .db('nfts')
    .whereIn('id', idsOf(requests))
    .select(service.db.raw('xmin::text'), service.db.raw('cmin::text'));
  expect(new Set(rows.map(({ xmin, cmin }) => `${xmin} ${cmin}`)).size).toBe(1);
});

describe('an error in the transaction of several mints', () => {
  test('leaves nothing; each is tried alone, and only the one to blame fails', async ({ service }) => {
    const requests = await addRequests(service, 3);
    const [, broken] = idsOf(requests);
    const { mint, transactions } = createAcceptor(service, (ids) => {
      if (ids.includes(String(broken))) throw new Error('broken');
    });
    const ends = await Promise.allSettled(requests.map(mint));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await statesOf(service, requests)).toEqual(['queued', 'unclaimed', 'queued']);
    expect(transactions.map(({ length }) => length)).toEqual([3, 1, 1, 1]);
    const keys = await queuedKeys(service);
    expect(idsOf(requests).map((id) => keys.includes(id))).toEqual([true, false, true]);
  });

  test('is the same for a secret that does not open', async ({ service }) => {
    const { mint } = createAcceptor(service, () => {});
    const requests = await addRequests(service, 3);
    await service
      .db('nfts')
      .where({ id: requests[0]?.nftId })
      .update({ secret_cipher: Buffer.alloc(60) });
    const ends = await Promise.allSettled(requests.map(mint));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });

  test('for want of the database is not tried again by each: all are told', async ({ service }) => {
    const requests = await addRequests(service, 2);
    const { mint, transactions } = createAcceptor(service, (_ids, tx) =>
      tx?.raw('SELECT pg_terminate_backend(pg_backend_pid())'),
    );
    const ends = await Promise.allSettled(requests.map(mint));
    for (const end of ends) expect(isOutage(end.status === 'rejected' && end.reason)).toBe(true);
    expect(transactions).toHaveLength(1);
    expect(await statesOf(service, requests)).toEqual(['unclaimed', 'unclaimed']);
  });

  test('at the commit is not tried again: it may have been done', async ({ service }) => {
    const requests = await addRequests(service, 2);
    await service.db.raw('CREATE TABLE late (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
    const { mint, transactions, wakes } = createAcceptor(service, (_ids, tx) =>
      tx?.raw('INSERT INTO late VALUES (1), (1)'),
    );
    const ends = await Promise.allSettled(requests.map(mint));
    await service.db.raw('DROP TABLE late');
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(transactions).toHaveLength(1);
    expect(wakes()).toBe(0);
    expect(await statesOf(service, requests)).toEqual(['unclaimed', 'unclaimed']);
  });
});
