import { describe, expect } from 'vitest';
import { purgeExpiredRows } from '../../src/db/housekeeping.ts';
import { purgeSecretAttempts } from '../../src/rwa/assets/secret-attempt-store.ts';
import { reissueSecret } from '../../src/rwa/operators/secret-reissue-store.ts';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { addMintable, queuedKeys } from './mint-requests.ts';
import { claimBaseUrl, serviceVault } from './samples.ts';

const tryWrong = async (acme: Client, path: string, times: number) => {
  const codes: string[] = [];
  for (let count = 0; count < times; count += 1) {
    codes.push((await acme.post(path).send({ secret: `wrong ${count}` })).body.code);
  }
  return codes;
};

describe('429: too many wrong secrets', () => {
  test('five wrong secrets are answered as such, then even the right one has to wait', async ({
    service,
    acme,
  }) => {
    const { nft, path, secret } = await addMintable(service);
    expect(await tryWrong(acme, path, 6)).toEqual([...Array(5).fill('secret_invalid'), 'secret_locked']);
    const locked = await acme.post(path).send({ secret }).expect(429);
    expect(locked.body.code).toBe('secret_locked');
    const wait = Number(locked.headers['retry-after']);
    expect(wait).toBeGreaterThan(14 * 60);
    expect(wait).toBeLessThanOrEqual(15 * 60);
    expect(await queuedKeys(service)).not.toContain(nft.id);
  });

  test('the window begins with the first wrong secret, and after it everything is as new', async ({
    service,
    acme,
  }) => {
    const { nft, path, secret } = await addMintable(service);
    await tryWrong(acme, path, 5);
    await service
      .db('secret_attempts')
      .where({ nft_id: nft.id })
      .update({ window_ends_at: service.db.raw("now() - interval '1 second'") });
    expect(await tryWrong(acme, path, 1)).toEqual(['secret_invalid']);
    await acme.post(path).send({ secret }).expect(200);
  });

  test('another NFT is not affected', async ({ service, acme }) => {
    const first = await addMintable(service);
    const second = await addMintable(service);
    await tryWrong(acme, first.path, 6);
    await acme.post(second.path).send({ secret: second.secret }).expect(200);
  });

  test('of 60 guesses side by side five are answered, whatever key or process they come through', async ({
    service,
    acme,
  }) => {
    const { path, secret } = await addMintable(service);
    const twin = await service.twin();
    const clients = [acme, twin.as(service.keys.acme)];
    const guesses = Array.from({ length: 60 }, (_, index) =>
      clients[index % 2]?.post(path).send({ secret: `guess ${index}` }),
    );
    const codes = (await Promise.all(guesses)).map((answer) => answer?.body.code);
    expect(codes.filter((code) => code === 'secret_invalid')).toHaveLength(5);
    expect(codes.filter((code) => code === 'secret_locked')).toHaveLength(55);
    await acme.post(path).send({ secret }).expect(429);
  });

  test('a new secret may be tried at once', async ({ service, acme }) => {
    const { nft, path } = await addMintable(service);
    await tryWrong(acme, path, 6);
    const reissued = await reissueSecret(service.db, serviceVault, nft.id, claimBaseUrl);
    await acme.post(path).send({ secret: reissued?.secret }).expect(200);
  });

  test('counts of windows that are over are deleted, and no others', async ({ service, acme }) => {
    const [over, open] = [await addMintable(service), await addMintable(service)];
    for (const { path } of [over, open]) await tryWrong(acme, path, 1);
    const counts = () => service.db('secret_attempts').whereIn('nft_id', [over.nft.id, open.nft.id]);
    await counts().where({ nft_id: over.nft.id }).update({ window_ends_at: service.db.fn.now() });
    await purgeExpiredRows(service.db, [purgeSecretAttempts]);
    expect(await counts().pluck('nft_id')).toEqual([open.nft.id]);
  });

  test('a minted one tells nothing about its secret either', async ({ service, acme }) => {
    const { path, secret } = await addMintable(service);
    await acme.post(path).send({ secret }).expect(200);
    await tryWrong(acme, path, 5);
    await acme.post(path).send({ secret }).expect(429);
  });
});
