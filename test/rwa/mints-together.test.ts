import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import type { Client, TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { wrongSecret } from './claim-requests.ts';
import { addMintable, otherRecipient, queuedKeys } from './mint-requests.ts';
import { addRwa, recipient } from './samples.ts';

// Requests that come at once share a transaction: each must be answered as if it had come alone.

const rowsOf = (service: TestService, ids: readonly string[]) => service.db('nfts').whereIn('id', ids);
const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

test('each of many requests has the answer that it would have alone', async ({ service, acme }) => {
  const good = await Promise.all(Array.from({ length: 12 }, () => addMintable(service)));
  const guessed = await addMintable(service);
  const foreign = await addMintable(service, 'globex');
  const closed = await addMintable(service, 'acme', { isClaimable: false });
  const mint = (path: string, secret: string) => acme.post(path).send({ secret, recipient });
  const [unknown, wrong, other, refused, ...accepted] = await Promise.all([
    mint(`/v1/api/nft/${randomUUID()}/mint`, 'x'),
    mint(guessed.path, 'wrong'),
    mint(foreign.path, foreign.secret),
    mint(closed.path, closed.secret),
    ...good.map(({ path, secret }) => mint(path, secret)),
  ]);
  expect(codeOf(unknown)).toEqual([404, 'nft_not_found']);
  expect(codeOf(wrong)).toEqual([400, 'secret_invalid']);
  expect(codeOf(other)).toEqual([403, 'nft_foreign']);
  expect(codeOf(refused)).toEqual([409, 'rwa_not_claimable']);
  expect(accepted.map(({ body }) => body.nftId)).toEqual(good.map(({ nft }) => nft.id));
  const ids = good.map(({ nft }) => nft.id);
  expect((await rowsOf(service, ids)).every((row) => row.mint_state === 'queued')).toBe(true);
  const untouched = [guessed, foreign, closed].map(({ nft }) => nft.id);
  expect((await rowsOf(service, untouched)).every((row) => row.mint_state === 'unclaimed')).toBe(true);
  const keys = await queuedKeys(service);
  expect(keys.filter((key) => [...ids, ...untouched].includes(key)).toSorted()).toEqual(ids.toSorted());
});

test('wrong secrets are counted among right ones: the sixth is told to wait', async ({ service, acme }) => {
  const guessed = await addMintable(service);
  const others = await Promise.all(Array.from({ length: 6 }, () => addMintable(service)));
  const answers = await Promise.all(
    others.flatMap(({ path, secret }) => [
      acme.post(guessed.path).send({ secret: wrongSecret(), recipient }),
      acme.post(path).send({ secret, recipient }),
    ]),
  );
  const codes = answers.map(({ body }) => body.code ?? 'accepted').toSorted();
  expect(codes).toEqual([
    ...Array.from({ length: 6 }, () => 'accepted'),
    ...Array.from({ length: 5 }, () => 'secret_invalid'),
    'secret_locked',
  ]);
  await acme.post(guessed.path).send({ secret: guessed.secret, recipient }).expect(200);
});

test('RWAs of one company each count their own', async ({ service, acme }) => {
  const rwas = await Promise.all(
    Array.from({ length: 5 }, () => addRwa(service.db, service.companies.acme, { isClaimable: true })),
  );
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      acme
        .post(`/v1/api/rwa/${rwas[index % 5]?.id}/mint`)
        .send({ data: { index } })
        .expect(200),
    ),
  );
  for (const [place, { id }] of rwas.entries()) {
    const made = await service.db('nfts').where({ rwa_id: id }).orderBy('serial');
    expect(made.map(({ serial }) => Number(serial))).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(new Set(made.map(({ data }) => data.index % 5))).toEqual(new Set([place]));
    expect(new Set(made.map(({ token_id: tokenId }) => tokenId)).size).toBe(12);
    expect((await acme.get(`/v1/api/rwa/${id}`)).body).toMatchObject({ totalNfts: 12, claimedNfts: 0 });
  }
});

test('one Idempotency-Key for several RWAs is a key for each', async ({ service, acme }) => {
  const rwas = await Promise.all(
    Array.from({ length: 3 }, () => addRwa(service.db, service.companies.acme, { isClaimable: true })),
  );
  const send = (id: string) => acme.post(`/v1/api/rwa/${id}/mint`).set('Idempotency-Key', 'shared').send({});
  const wanted = rwas.flatMap(({ id }) => [id, id, id]);
  const answers = await Promise.all(wanted.map((id) => send(id)));
  for (const { id } of rwas) {
    const own = answers
      .filter((_answer, index) => wanted[index] === id)
      .filter(({ status }) => status === 200);
    expect(new Set(own.map(({ body }) => body.nftId)).size).toBe(1);
    expect(await service.db('nfts').where({ rwa_id: id })).toHaveLength(1);
  }
  expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
});

test('one NFT under two spellings of its id goes to one recipient', async ({ service, acme }) => {
  const { nft, path, secret } = await addMintable(service);
  const release = await occupyBothTurns(service, acme);
  const mint = (at: string, to: string) =>
    acme
      .post(at)
      .send({ secret, recipient: to })
      .then(({ status }) => ({ to, status }));
  const answers = Promise.all([
    mint(path, recipient),
    mint(path.replace(nft.id, nft.id.toUpperCase()), otherRecipient),
  ]);
  await acme.get(`/v1/api/nft/${nft.id}`).expect(200); // by now they wait for a turn, and get one together
  await release();
  const ends = await answers;
  const [row] = await rowsOf(service, [nft.id]);
  for (const { to, status } of ends) expect(status).toBe(to === row.recipient ? 200 : 409);
});

/** Lets two mints of other NFTs wait for their rows, so that whoever comes next waits behind them. */
async function occupyBothTurns(service: TestService, acme: Client): Promise<() => Promise<void>> {
  const others = await Promise.all([addMintable(service), addMintable(service)]);
  const tx = await service.db.transaction();
  await tx('nfts')
    .whereIn(
      'id',
      others.map(({ nft }) => nft.id),
    )
    .forUpdate();
  const ends: Promise<unknown>[] = [];
  for (const { path, secret } of others) {
    ends.push(acme.post(path).send({ secret, recipient }).expect(200).then());
    await waitFor(async () => expect(await countLockWaits(service.db)).toBe(ends.length));
  }
  return async () => {
    await tx.commit();
    await Promise.all(ends);
  };
}
