import { describe, expect } from 'vitest';
import { saveContractVerdicts } from '../../src/rwa/minting/contract-verdict-store.ts';
import { testWith } from '../support/fixtures.ts';
import type { Client, TestService } from '../support/service.ts';
import {
  addClaimable,
  addClosed,
  behindProxy,
  claimPaths,
  from,
  newAddress,
  unclaimableIds,
  wrongSecret,
} from './claim-requests.ts';
import { contractAddress, markMinted, mintedTx, recipient } from './samples.ts';

const test = testWith(behindProxy);

const explorerUrl = 'https://explorer.example';
const setExplorer = ({ db }: TestService, url: string | null) =>
  db('networks').where({ chain_id: '31337' }).update({ explorer_url: url });

/** What tells two problems apart, but for their time and id. */
const told = ({ status, text }: { status: number; text: string }) =>
  `${status} ${text.replace(/"requestId":"[^"]*"/, '')}`;

/** Sends a body again and again from one address. */
const tryTimes = async (
  anyone: Client,
  path: string,
  times: number,
  more: { secret?: string; address?: string } = {},
) => {
  const { secret = wrongSecret(), address = newAddress() } = more;
  const answers: string[] = [];
  for (let count = 0; count < times; count += 1)
    answers.push(told(await from(anyone, address)(path).send({ secret })));
  return answers;
};

const notFound = expect.stringMatching(/^404 .*claim_not_found/);
const locked = expect.stringMatching(/^429 .*secret_locked/);

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

  test('says that no claim would be accepted where its contract is none that mints', async ({
    service,
    anyone,
  }) => {
    const { secret, statePath } = await addClaimable(service);
    const unfit = { chainId: '31337', contract: contractAddress, verdict: 'unfit', detail: 'x' } as const;
    await saveContractVerdicts(service.db, [unfit]);
    const { body } = await anyone.post(statePath).send({ secret }).expect(200);
    await service.db('contract_verdicts').delete();
    expect(body.isClaimable).toBe(false);
  });

  test('does not wait for a transaction that has locked the row', async ({ service, anyone }) => {
    const { nft, secret, statePath } = await addClaimable(service);
    await service.db.transaction(async (tx) => {
      await tx('nfts').where({ id: nft.id }).forUpdate().first('id');
      await anyone.post(statePath).send({ secret }).expect(200);
    });
  });
});

describe('404', () => {
  test('the right secret of an NFT that did not opt in reads that it is not open, and is not counted', async ({
    service,
    anyone,
  }) => {
    const { nft, secret, statePath } = await addClosed(service);
    const notOpen = expect.stringMatching(/^404 .*claim_not_open/);
    const answers = await tryTimes(anyone, statePath, 7, { secret });
    expect(answers).toEqual(Array(7).fill(notOpen));
    expect(answers.join()).not.toContain('Cask 17');
    expect(await service.db('wrong_secrets').where({ nft_id: nft.id })).toEqual([]);
  });

  test('a wrong secret, an unknown NFT and one that did not opt in are told apart by nothing', async ({
    service,
    anyone,
  }) => {
    const { statePath } = await addClaimable(service);
    const expected = await tryTimes(anyone, statePath, 7);
    expect(expected).toEqual([...Array(5).fill(notFound), locked, locked]);
    for (const { id, secret } of await unclaimableIds(service)) {
      expect(await tryTimes(anyone, claimPaths(id).statePath, 7, { secret })).toEqual(expected);
    }
  });

  test.for(['wrong', 'x'.repeat(31), `${'x'.repeat(32)}.`, `${'x'.repeat(32)}\n`])(
    'a text that cannot be a secret is told so without a count: %j',
    async (secret, { service, anyone }) => {
      const { statePath, nft } = await addClaimable(service);
      expect(await tryTimes(anyone, statePath, 8, { secret })).toEqual(Array(8).fill(notFound));
      expect(await service.db('wrong_secrets').where({ nft_id: nft.id })).toEqual([]);
    },
  );

  test('a secret that is damaged in the database is like a wrong one', async ({ service, anyone }) => {
    const { statePath, secret, nft } = await addClaimable(service);
    await service
      .db('nfts')
      .where({ id: nft.id })
      .update({ secret_cipher: Buffer.alloc(60) });
    expect(await tryTimes(anyone, statePath, 1, { secret })).toEqual([notFound]);
  });
});

describe('429', () => {
  test('is for whoever guesses alone: the right secret passes, and other addresses notice nothing', async ({
    service,
    anyone,
  }) => {
    const { statePath, secret } = await addClaimable(service);
    const address = newAddress();
    await tryTimes(anyone, statePath, 5, { address });
    const { body, headers } = await from(anyone, address)(statePath).send({ secret: wrongSecret() });
    expect(body.code).toBe('secret_locked');
    expect(Number(headers['retry-after'])).toBeGreaterThan(14 * 60);
    await from(anyone, address)(statePath).send({ secret }).expect(200);
    expect(await tryTimes(anyone, statePath, 1)).toEqual([notFound]);
    expect(await tryTimes(anyone, statePath, 1, { address })).toEqual([locked]);
  });

  test.for(['known', 'unknown'])(
    'of 30 guesses side by side at an %s NFT five are answered',
    async (kind, { service, anyone }) => {
      const { statePath } =
        kind === 'known' ? await addClaimable(service) : claimPaths((await unclaimableIds(service))[0].id);
      const twin = (await service.twin()).as();
      const address = newAddress();
      const guesses = Array.from({ length: 30 }, (_, index) =>
        from(index % 2 === 0 ? anyone : twin, address)(statePath).send({ secret: wrongSecret() }),
      );
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 404)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(25);
    },
  );

  test('all addresses of an IPv6 network of 64 bits are one, and the next network is another', async ({
    service,
    anyone,
  }) => {
    const { statePath } = await addClaimable(service);
    const statuses: number[] = [];
    for (let host = 1; host <= 6; host += 1) {
      const address = `2001:db8:7:1:${host}::${host}`;
      statuses.push((await from(anyone, address)(statePath).send({ secret: wrongSecret() })).status);
    }
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
    expect(await tryTimes(anyone, statePath, 1, { address: '2001:db8:7:2::1' })).toEqual([notFound]);
  });

  test('an address has 50 wrong secrets over all NFTs, and adds no rows after that', async ({
    service,
    anyone,
  }) => {
    const { statePath, secret, nft } = await addClaimable(service);
    const address = newAddress();
    const ids = (await Promise.all(Array.from({ length: 25 }, () => unclaimableIds(service)))).flat();
    const answers = await Promise.all(
      ids.map(({ id }) => tryTimes(anyone, claimPaths(id).statePath, 1, { address })),
    );
    expect(answers.flat()).toEqual(Array(50).fill(notFound));
    const rows = async () => (await service.db('wrong_secrets')).length;
    const before = await rows();
    const over = await from(anyone, address)(statePath).send({ secret: wrongSecret() }).expect(429);
    expect(over.body.code).toBe('secret_locked');
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(14 * 60);
    const [{ id }] = await unclaimableIds(service);
    expect(await tryTimes(anyone, claimPaths(id).statePath, 1, { address })).toEqual([locked]);
    expect(await rows()).toBe(before);
    expect(await service.db('wrong_secrets').where({ nft_id: nft.id })).toEqual([]);
    await from(anyone, address)(statePath).send({ secret }).expect(200);
    expect(await tryTimes(anyone, statePath, 1)).toEqual([notFound]);
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
    for (const tried of [secret, wrongSecret()]) {
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
