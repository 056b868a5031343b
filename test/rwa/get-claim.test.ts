import { describe, expect } from 'vitest';
import { purgeExpiredRows } from '../../src/db/housekeeping.ts';
import { purgeUnknownClaims } from '../../src/rwa/minting/unknown-claim-store.ts';
import { test } from '../support/fixtures.ts';
import type { Client, TestService } from '../support/service.ts';
import { addClaimable, claimPaths, unclaimableIds } from './claim-requests.ts';
import { contractAddress, markMinted, mintedTx, recipient } from './samples.ts';

const explorerUrl = 'https://explorer.example';
const setExplorer = ({ db }: TestService, url: string | null) =>
  db('networks').where({ chain_id: '31337' }).update({ explorer_url: url });

/** What tells two problems apart, but for their time and id. */
const told = ({ status, text }: { status: number; text: string }) =>
  `${status} ${text.replace(/"requestId":"[^"]*"/, '')}`;

const tryTimes = async (anyone: Client, path: string, body: object, times: number) => {
  const answers: string[] = [];
  for (let count = 0; count < times; count += 1) answers.push(told(await anyone.post(path).send(body)));
  return answers;
};

describe('200', () => {
  test('shows the holder of the secret what there is to claim, and nobody else’s business', async ({
    service,
    anyone,
  }) => {
    const { rwa, nft, secret, statePath } = await addClaimable(service, {
      description: 'A cask.',
      imageUrl: 'https://images.example/cask.jpg',
      price: '12.50',
      currency: 'EUR',
      data: { cellar: 'hidden' },
    });
    const { body, headers, text } = await anyone.post(statePath).send({ secret }).expect(200);
    expect(body).toEqual({
      nftId: nft.id,
      companyName: null,
      serial: '000001',
      tokenId: nft.tokenId,
      name: 'Cask 17',
      description: 'A cask.',
      type: 'whisky',
      imageUrl: 'https://images.example/cask.jpg',
      chainId: 31337,
      networkName: expect.any(String),
      contractAddress,
      isClaimable: true,
      claimStatus: 'unclaimed',
      mintError: null,
      mintNote: null,
      recipient: null,
      mintedAt: null,
      mintedTx: null,
      transactionUrl: null,
    });
    expect(headers['cache-control']).toBe('no-store');
    for (const word of [secret, rwa.id, service.companies.acme, '12.50', 'hidden']) {
      expect(text).not.toContain(word);
    }
  });

  test('shows the name that the company has for customers', async ({ service, anyone }) => {
    const { secret, statePath } = await addClaimable(service);
    const setName = (name: string | null) =>
      service.db('companies').where({ id: service.companies.acme }).update({ display_name: name });
    await setName('Acme Casks');
    const { body } = await anyone.post(statePath).send({ secret }).expect(200);
    await setName(null);
    expect(body.companyName).toBe('Acme Casks');
  });

  test('says who has a minted one, and where to see its transaction', async ({ service, anyone }) => {
    const { nft, secret, statePath } = await addClaimable(service);
    await markMinted(service.db, nft.id);
    await setExplorer(service, explorerUrl);
    const { body } = await anyone
      .post(claimPaths(nft.id.toUpperCase()).statePath)
      .send({ secret })
      .expect(200);
    expect(body).toMatchObject({
      isClaimable: false,
      claimStatus: 'minted',
      recipient,
      mintedTx,
      transactionUrl: `${explorerUrl}/tx/${mintedTx}`,
    });
    await setExplorer(service, null);
    const { body: bare } = await anyone.post(statePath).send({ secret }).expect(200);
    expect(bare).toMatchObject({ mintedTx, transactionUrl: null });
  });

  test.for([
    ['the RWA is not claimable', { is_claimable: false }, 'unclaimed', false],
    ['the mint is queued', {}, 'queued', false],
    ['the mint failed', {}, 'failed', true],
  ] as const)(
    'when %s, says whether a claim would be accepted',
    async ([_why, change, state, may], { service, anyone }) => {
      const { rwa, nft, secret, statePath } = await addClaimable(service);
      if ('is_claimable' in change) await service.db('rwas').where({ id: rwa.id }).update(change);
      if (state !== 'unclaimed') {
        const mint_error = state === 'failed' ? 'The contract refuses the recipient.' : null;
        await service.db('nfts').where({ id: nft.id }).update({ mint_state: state, mint_error, recipient });
      }
      const { body } = await anyone.post(statePath).send({ secret }).expect(200);
      expect(body).toMatchObject({ claimStatus: state, isClaimable: may });
      expect(body.mintError).toBe(state === 'failed' ? 'The contract refuses the recipient.' : null);
    },
  );

  test('does not wait for a transaction that has locked the row', async ({ service, anyone }) => {
    const { nft, secret, statePath } = await addClaimable(service);
    await service.db.transaction(async (tx) => {
      await tx('nfts').where({ id: nft.id }).forUpdate().first('id');
      await anyone.post(statePath).send({ secret }).expect(200);
    });
  });
});

describe('404', () => {
  test('a wrong secret, an unknown NFT and one that did not opt in are told apart by nothing', async ({
    service,
    anyone,
  }) => {
    const { statePath } = await addClaimable(service);
    const expected = await tryTimes(anyone, statePath, { secret: 'wrong' }, 7);
    expect(expected.slice(0, 5)).toEqual(Array(5).fill(expect.stringMatching(/^404 .*claim_not_found/)));
    expect(expected.slice(5)).toEqual(Array(2).fill(expect.stringMatching(/^429 .*secret_locked/)));
    for (const { id, secret } of await unclaimableIds(service)) {
      expect(await tryTimes(anyone, claimPaths(id).statePath, { secret }, 7)).toEqual(expected);
    }
  });

  test('tries at one that did not opt in do not lock its company out', async ({ service, anyone, acme }) => {
    const [, { id, secret }] = await unclaimableIds(service);
    await tryTimes(anyone, claimPaths(id).statePath, { secret: 'wrong' }, 6);
    await acme.post(`/v1/api/nft/${id}/mint`).send({ secret, recipient }).expect(200);
  });
});

describe('429', () => {
  test('wrong secrets here and in the company’s own requests are one count', async ({
    service,
    anyone,
    acme,
  }) => {
    const { path, statePath, secret } = await addClaimable(service);
    await tryTimes(anyone, statePath, { secret: 'wrong' }, 3);
    for (let left = 2; left > 0; left -= 1) await acme.post(path).send({ secret: 'wrong' }).expect(400);
    const { body, headers } = await anyone.post(statePath).send({ secret }).expect(429);
    expect(body.code).toBe('secret_locked');
    expect(Number(headers['retry-after'])).toBeGreaterThan(14 * 60);
    await acme.post(path).send({ secret }).expect(429);
  });

  test.for(['known', 'unknown'])(
    'of 30 guesses side by side at an %s NFT five are answered',
    async (kind, { service, anyone }) => {
      const { statePath } =
        kind === 'known' ? await addClaimable(service) : claimPaths((await unclaimableIds(service))[0].id);
      const twin = (await service.twin()).as();
      const guesses = Array.from({ length: 30 }, (_, index) =>
        (index % 2 === 0 ? anyone : twin).post(statePath).send({ secret: `guess ${index}` }),
      );
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 404)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(25);
    },
  );

  test('windows that are over begin anew, and are deleted', async ({ service, anyone }) => {
    const [{ id }] = await unclaimableIds(service);
    const { statePath } = claimPaths(id);
    const end = () =>
      service
        .db('unknown_claims')
        .where({ nft_id: id })
        .update({ window_ends_at: service.db.raw("now() - interval '1 second'") });
    await tryTimes(anyone, statePath, { secret: 'x' }, 6);
    await end();
    expect(await tryTimes(anyone, statePath, { secret: 'x' }, 1)).toEqual([expect.stringMatching(/^404/)]);
    await end();
    await purgeExpiredRows(service.db, [purgeUnknownClaims]);
    expect(await service.db('unknown_claims').where({ nft_id: id })).toEqual([]);
  });
});

describe('a page of another origin', () => {
  const origin = 'https://acme.example';

  test('may call it', async ({ service }) => {
    const { statePath, secret } = await addClaimable(service);
    const url = `${service.baseUrl}${statePath}`;
    const asked = { origin, 'access-control-request-method': 'POST' };
    const preflight = await fetch(url, { method: 'OPTIONS', headers: asked });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('content-type');
    const headers = { origin, 'content-type': 'application/json' };
    for (const tried of [secret, 'wrong']) {
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ secret: tried }) });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('may call nothing else', async ({ service }) => {
    const answer = await fetch(`${service.baseUrl}/v1/api/rwa`, { headers: { origin } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('OPTIONS that is no preflight of its own method is 405 as everywhere', async ({ anyone }) => {
    const { statePath } = claimPaths('x');
    await anyone.options(statePath).expect(405);
    await anyone.options(statePath).set('access-control-request-method', 'POST').expect(405);
    await anyone.options(statePath).set({ origin, 'access-control-request-method': 'DELETE' }).expect(405);
  });
});
