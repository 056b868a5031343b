import { describe, expect } from 'vitest';
import { mapFewAtOnce } from '../../src/base/few-at-once.ts';
import { purgeExpiredRows } from '../../src/db/records/housekeeping.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { purgeWrongSecrets } from '../../src/rwa/assets/wrong-secret-store.ts';
import { reissueSecret } from '../../src/rwa/operators/secret-reissue-store.ts';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { addClaimable, claimPaths, wrongSecret } from './claim-requests.ts';
import { addMintable } from './mint-requests.ts';
import { claimBaseUrl, recipient, serviceVault } from './samples.ts';

const tryWrong = async (client: Client, path: string, times: number) => {
  const codes: string[] = [];
  for (let count = 0; count < times; count += 1) {
    codes.push((await client.post(path).send({ secret: wrongSecret(), recipient })).body.code);
  }
  return codes;
};

const invalid = (times: number) => Array<string>(times).fill('secret_invalid');

describe('429: too many wrong secrets of a key', () => {
  test('five are answered as such, further ones have to wait', async ({ service, acme }) => {
    const { path } = await addMintable(service);
    expect(await tryWrong(acme, path, 7)).toEqual([...invalid(5), 'secret_locked', 'secret_locked']);
    const locked = await acme.post(path).send({ secret: wrongSecret() }).expect(429);
    const wait = Number(locked.headers['retry-after']);
    expect(wait).toBeGreaterThan(14 * 60);
    expect(wait).toBeLessThanOrEqual(15 * 60);
  });

  test('the window begins with the first wrong secret, and after it everything is as new', async ({
    service,
    acme,
  }) => {
    const { nft, path } = await addMintable(service);
    await tryWrong(acme, path, 6);
    const ended = { window_ends_at: service.db.raw("now() - interval '1 second'") };
    await service.db('wrong_secrets').where({ nft_id: nft.id }).update(ended);
    expect(await tryWrong(acme, path, 6)).toEqual([...invalid(5), 'secret_locked']);
  });

  test('another NFT, and another key of the company, are not affected', async ({ service, acme }) => {
    const [first, second] = [await addMintable(service), await addMintable(service)];
    await tryWrong(acme, first.path, 6);
    expect(await tryWrong(acme, second.path, 1)).toEqual(invalid(1));
    const { key } = await issueKey(service.db, 'test', { companyId: service.companies.acme, label: 'other' });
    expect(await tryWrong(service.as(key), first.path, 6)).toEqual([...invalid(5), 'secret_locked']);
  });

  test('of 60 guesses side by side five are answered, whatever process they come through', async ({
    service,
    acme,
  }) => {
    const { path, secret } = await addMintable(service);
    const clients = [acme, (await service.twin()).as(service.keys.acme)];
    const guesses = Array.from({ length: 60 }, (_, index) =>
      clients[index % 2]?.post(path).send({ secret: wrongSecret() }),
    );
    const right = acme.post(path).send({ secret });
    const codes = (await Promise.all(guesses)).map((answer) => answer?.body.code);
    expect(codes.filter((code) => code === 'secret_invalid')).toHaveLength(5);
    expect(codes.filter((code) => code === 'secret_locked')).toHaveLength(55);
    expect((await right).status).toBe(200);
  });

  test('a key has no bound over all NFTs: its company sends what customers type in', async ({
    service,
    acme,
  }) => {
    const tries = Array.from({ length: 60 });
    // A few at once, so that no try waits for a place beyond its time on a busy machine.
    const sent = mapFewAtOnce(tries, 8, async () => tryWrong(acme, (await addMintable(service)).path, 1));
    expect((await sent).flat()).toEqual(invalid(60));
  });
});

describe('the right secret', () => {
  test('is accepted at once, however many wrong ones the same key has sent', async ({ service, acme }) => {
    const { path, secret } = await addMintable(service);
    await tryWrong(acme, path, 6);
    await acme.post(path).send({ secret }).expect(200);
    // What was accepted changes nothing for the next guess.
    expect(await tryWrong(acme, path, 1)).toEqual(['secret_locked']);
  });

  test('is accepted beside a wrong one that comes with it', async ({ service, acme }) => {
    const { path, secret } = await addMintable(service);
    const sent = [wrongSecret(), secret, wrongSecret()].map((each) => acme.post(path).send({ secret: each }));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([400, 200, 400]);
  });

  test('is accepted from the company whatever strangers have tried, and the other way round', async ({
    service,
    acme,
    anyone,
  }) => {
    const [ours, theirs] = [await addClaimable(service), await addClaimable(service)];
    await tryWrong(anyone, ours.claimPath, 6);
    expect(await tryWrong(acme, ours.path, 1)).toEqual(invalid(1));
    await acme.post(ours.path).send({ secret: ours.secret }).expect(200);
    await tryWrong(acme, theirs.path, 6);
    const { claimPath } = claimPaths(theirs.nft.id);
    expect(await tryWrong(anyone, claimPath, 1)).toEqual(['claim_not_found']);
    await anyone.post(claimPath).send({ secret: theirs.secret, recipient }).expect(200);
  });

  test('is the new one after the old was replaced', async ({ service, acme }) => {
    const { nft, path, secret } = await addMintable(service);
    await tryWrong(acme, path, 6);
    const reissued = await reissueSecret(service.db, serviceVault, nft.id, claimBaseUrl);
    await acme.post(path).send({ secret }).expect(429);
    await acme.post(path).send({ secret: reissued?.secret }).expect(200);
  });
});

test.for(['wrong', 'x'.repeat(31), 'x'.repeat(33), `${'x'.repeat(31)}.`, `${'x'.repeat(31)}ä`])(
  'a text that cannot be a secret is never counted: %s',
  async (secret, { service, acme }) => {
    const { nft, path } = await addMintable(service);
    for (let left = 8; left > 0; left -= 1) await acme.post(path).send({ secret }).expect(400);
    expect(await service.db('wrong_secrets').where({ nft_id: nft.id })).toEqual([]);
  },
);

test('counts of windows that are over are deleted, and no others', async ({ service, acme }) => {
  const [over, open] = [await addMintable(service), await addMintable(service)];
  for (const { path } of [over, open]) await tryWrong(acme, path, 1);
  const counts = () => service.db('wrong_secrets').whereIn('nft_id', [over.nft.id, open.nft.id]);
  await counts().where({ nft_id: over.nft.id }).update({ window_ends_at: service.db.fn.now() });
  await purgeExpiredRows(service.db, [purgeWrongSecrets]);
  expect(await counts().pluck('nft_id')).toEqual([open.nft.id]);
});
