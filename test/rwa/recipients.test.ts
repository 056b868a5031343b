import { describe, expect } from 'vitest';
import { setArchived } from '../../src/rwa/assets/rwa-change-store.ts';
import { test } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { addClaimable } from './claim-requests.ts';
import { treasury } from './mint-requests.ts';
import { addNetwork, addRwa, contractAddress, recipient } from './samples.ts';

/** The contract of an archived RWA of the other company on another network, and of a network that no RWA is on. */
const elsewhere = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0';
const unused = '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9';
const low = (last: string) => `0x${last.padStart(40, '0')}`;

test.beforeAll(async ({ service }) => {
  const { db, companies } = service;
  await addNetwork(db, '137');
  await addNetwork(db, '10');
  await db('networks').where({ chain_id: '10' }).update({ minter_contract: unused });
  const rwa = await addRwa(db, companies.globex, { chainId: 137, contractAddress: elsewhere });
  await db.transaction((tx) => setArchived(tx, rwa, true));
});

const reserved = 'reserved for contracts of the network';
const unusable = [
  ['the contract of the NFT', contractAddress, 'the contract of this NFT'],
  ['the contract of another company on another network', elsewhere, 'an NFT contract of the service'],
  ['the contract of a network', unused, 'an NFT contract of the service'],
  ['the first precompile', low('1'), reserved],
  ['the last precompile of Ethereum', low('11'), reserved],
  ['the precompile of RIP-7212', low('100'), reserved],
  ['the address that burns', '0x000000000000000000000000000000000000dEaD', reserved],
  ['the last reserved address', low('FFff'), reserved],
] as const;

/** All that a mint leaves. */
async function traces({ db, parts }: TestService) {
  await parts.jobs.open();
  const count = async (table: string, where: object) =>
    Number((await db(table).where(where).count())[0]?.['count']);
  return {
    nfts: await count('nfts', {}),
    queued: await count('nfts', { mint_state: 'queued' }),
    jobs: await count('pgboss.job', { name: 'mint-nft' }),
    entries: await count('audit_log', { action: 'nft.mint' }),
    records: await count('idempotency_records', {}),
  };
}

const setTreasury = ({ db, companies }: TestService, address: string) =>
  db('companies').where({ id: companies.acme }).update({ treasury_address: address });

describe('400 recipient_unusable', () => {
  test.for(unusable)(
    'neither mint nor claim queues anything for %s',
    async ([_, address, what], { service, acme, anyone }) => {
      const { rwa, path, claimPath, secret } = await addClaimable(service);
      const before = await traces(service);
      const sent = { recipient: address.toLowerCase() };
      const answers = [
        await acme
          .post(path)
          .set('Idempotency-Key', address)
          .send({ secret, ...sent }),
        await acme.post(`/v1/api/rwa/${rwa.id}/mint`).set('Idempotency-Key', address).send(sent),
        await anyone.post(claimPath).send({ secret, ...sent }),
        await anyone.post(`${claimPath}/recipient`).send({ secret, ...sent }),
      ];
      for (const { status, body } of answers) {
        const message = `No NFT can be minted to ${address}: it is ${what}`;
        expect(status).toBe(400);
        expect(body).toMatchObject({ code: 'recipient_unusable', detail: message });
        expect(body.errors).toMatchObject([{ in: 'body', pointer: '/recipient', message }]);
      }
      expect(await traces(service)).toEqual(before);
      // The NFT is as good as before.
      await acme.post(path).send({ secret, recipient }).expect(200);
    },
  );

  test.for(unusable)(
    'nothing goes to a treasury that is %s',
    async ([_, address, what], { service, acme }) => {
      const { rwa, path, secret } = await addClaimable(service);
      await setTreasury(service, address);
      const before = await traces(service);
      const answers = [
        await acme.post(path).send({ secret }),
        await acme.post(`/v1/api/rwa/${rwa.id}/mint`).send({}),
      ];
      const after = await traces(service);
      await setTreasury(service, treasury);
      for (const { status, body } of answers) {
        const detail = `No NFT can be minted to ${address}, the treasury of the company: it is ${what}`;
        expect(status).toBe(400);
        expect(body).toMatchObject({ code: 'recipient_unusable', detail });
      }
      expect(after).toEqual(before);
    },
  );

  test('whoever lacks the secret does not learn it', async ({ service, acme, anyone }) => {
    const { path, claimPath, nft } = await addClaimable(service);
    const secret = 'x'.repeat(32);
    const stranger = await anyone.post(claimPath).send({ secret, recipient: contractAddress }).expect(404);
    expect(stranger.body.code).toBe('claim_not_found');
    const wrong = await acme.post(path).send({ secret, recipient: contractAddress }).expect(400);
    expect(wrong.body.code).toBe('secret_invalid');
    expect(await service.db('nfts').where({ id: nft.id }).first('mint_state')).toEqual({
      mint_state: 'unclaimed',
    });
  });

  test('one of several that come at once is rejected alone', async ({ service, acme }) => {
    const made = await Promise.all([1, 2, 3].map(() => addClaimable(service)));
    const sent = made.map(({ path, secret }, index) =>
      acme.post(path).send({ secret, recipient: index === 1 ? contractAddress : recipient }),
    );
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 400, 200]);
  });
});

test('the first address above the reserved ones may get an NFT', async ({ service, acme }) => {
  const { path, secret } = await addClaimable(service);
  await acme
    .post(path)
    .send({ secret, recipient: low('10000') })
    .expect(200);
});

test('a mint that was queued before the rule goes on as it is', async ({ service, acme }) => {
  const { nft, path, secret } = await addClaimable(service);
  await acme.post(path).send({ secret, recipient }).expect(200);
  await service.db('nfts').where({ id: nft.id }).update({ recipient: contractAddress });
  await acme.post(path).send({ secret, recipient: contractAddress }).expect(200);
  expect(await service.db('nfts').where({ id: nft.id }).first('mint_state')).toEqual({
    mint_state: 'queued',
  });
});
