import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { setArchived } from '../../src/rwa/assets/rwa-change-store.ts';
import { saveContractVerdicts } from '../../src/rwa/minting/contract-verdict-store.ts';
import { mintReasons } from '../../src/rwa/minting/mint-reason.ts';
import { test } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { addMintable, otherRecipient, queuedKeys, treasury } from './mint-requests.ts';
import { contractAddress, recipient, setZeroTreasury } from './samples.ts';

const path = `/v1/api/nft/${randomUUID()}/mint`;
const rowOf = (service: TestService, id: string) => service.db('nfts').where({ id }).first();

describe('200', () => {
  test('queues the NFT for its recipient: row, job and answer agree', async ({ service, acme }) => {
    const { nft, path, secret } = await addMintable(service);
    const { body } = await acme.post(path).send({ secret, recipient }).expect(200);
    expect(body).toEqual({
      status: 'queued',
      nftId: nft.id,
      message: 'The NFT is queued for minting. Read statusUrl for the result.',
      statusUrl: `/v1/api/nft/${nft.id}`,
    });
    expect(await queuedKeys(service)).toContain(nft.id);
    const { body: read } = await acme.get(body.statusUrl).expect(200);
    expect(read).toMatchObject({ claimStatus: 'queued', recipient, mintedAt: null, mintedTx: null });
    expect(await rowOf(service, nft.id)).toMatchObject({
      mint_chain_id: '31337',
      queued_at: expect.any(Date),
    });
  });

  test('without a recipient it goes to the treasury of the company', async ({ service, acme }) => {
    const { nft, path, secret } = await addMintable(service);
    await acme.post(path).send({ secret, recipient: null }).expect(200);
    expect(await rowOf(service, nft.id)).toMatchObject({ mint_state: 'queued', recipient: treasury });
  });

  test.for(['queued', 'submitted'])(
    'asking again while %s is as before, and asks for no second job',
    async (state, { service, acme }) => {
      const { nft, path, secret } = await addMintable(service);
      await acme.post(path).send({ secret, recipient }).expect(200);
      await service.db('nfts').where({ id: nft.id }).update({ mint_state: state });
      const before = await rowOf(service, nft.id);
      await acme.post(path).send({ secret, recipient: recipient.toLowerCase() }).expect(200);
      expect(await rowOf(service, nft.id)).toEqual(before);
      expect((await queuedKeys(service)).filter((key) => key === nft.id)).toHaveLength(1);
    },
  );

  test('goes on when the RWA is no longer claimable, since it was accepted before', async ({
    service,
    acme,
  }) => {
    const { rwa, path, secret } = await addMintable(service);
    await acme.post(path).send({ secret }).expect(200);
    await service.db('rwas').where({ id: rwa.id }).update({ is_claimable: false });
    await acme.post(path).send({ secret }).expect(200);
  });

  test('a failed one may be asked for again, for somebody else', async ({ service, acme }) => {
    const { nft, path, secret } = await addMintable(service);
    await service
      .db('nfts')
      .where({ id: nft.id })
      .update({ mint_state: 'failed', mint_error: 'x', recipient });
    await acme.post(path).send({ secret, recipient: otherRecipient }).expect(200);
    expect(await rowOf(service, nft.id)).toMatchObject({
      mint_state: 'queued',
      mint_error: null,
      recipient: otherRecipient,
    });
  });

  test('an Idempotency-Key replays the answer without doing the work again', async ({ service, acme }) => {
    const { nft, path, secret } = await addMintable(service);
    const send = () => acme.post(path).set('Idempotency-Key', 'k1').send({ secret });
    const first = await send().expect(200);
    await service.db('nfts').where({ id: nft.id }).update({ mint_state: 'failed', mint_error: 'x' });
    const second = await send().expect(200);
    expect(second.text).toBe(first.text); // the same bytes
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await rowOf(service, nft.id)).toMatchObject({ mint_state: 'failed' });
    const records = JSON.stringify(await service.db('idempotency_records'));
    expect(records).not.toContain(secret);
  });
});

const setTreasury = (db: Database, id: string, address: string | null) =>
  db('companies').where({ id }).update({ treasury_address: address });
const lastHeld = (db: Database, ago: string) =>
  db('mint_lanes').update({ staffed_at: db.raw('now() - ?::interval', [ago]) });

describe('400', () => {
  test.for([undefined, {}, { secret: '' }, { secret: null }, { recipient }])(
    'asks for the secret when the body is %j',
    async (body, { acme }) => {
      const sending = acme.post(path);
      const answer = await (body === undefined ? sending : sending.send(body)).expect(400);
      expect(answer.body.detail).toBe('Secret is required');
    },
  );

  test('a wrong secret changes nothing, also that of another NFT, and leaves no record of the request', async ({
    service,
    acme,
  }) => {
    const { nft, path } = await addMintable(service);
    const other = await addMintable(service);
    const before = await rowOf(service, nft.id);
    const records = () => service.db('idempotency_records').orderBy('key');
    const kept = await records();
    for (const secret of ['wrong', other.secret]) {
      const sending = acme.post(path).set('Idempotency-Key', `refused ${nft.id}`);
      const { body } = await sending.send({ secret }).expect(400);
      expect(body).toMatchObject({ code: 'secret_invalid', detail: 'Secret is invalid' });
    }
    expect(await rowOf(service, nft.id)).toEqual(before);
    expect(await records()).toEqual(kept);
    expect(await queuedKeys(service)).not.toContain(nft.id);
  });

  test.for([
    ['is the zero address, from before that was refused', setZeroTreasury],
    ['is not there', (db: Database, id: string) => setTreasury(db, id, null)],
  ] as const)('asks for a recipient where the treasury %s', async ([_, take], { service, globex }) => {
    const { db, companies } = service;
    const { nft, path, secret } = await addMintable(service, 'globex');
    await take(db, companies.globex);
    const { body } = await globex.post(path).send({ secret }).expect(400);
    await setTreasury(db, companies.globex, treasury);
    expect(body).toMatchObject({ code: 'recipient_required', detail: 'Recipient is required' });
    expect(await rowOf(service, nft.id)).toMatchObject({ mint_state: 'unclaimed' });
  });
});

test('an outage of all who sign keeps no mint from being accepted, and its note says so', async ({
  service,
  acme,
}) => {
  const { path, secret } = await addMintable(service);
  await lastHeld(service.db, '11 minutes');
  const { body } = await acme.post(path).send({ secret }).expect(200);
  expect(body.mintNote ?? (await acme.get(path.replace('/mint', '')).expect(200)).body.mintNote).toBe(
    mintReasons.no_worker.note,
  );
  await lastHeld(service.db, '0 minutes');
});

describe('409', () => {
  test('one of an RWA that is archived, but not one that was accepted before', async ({ service, acme }) => {
    const { rwa, nft, path, secret } = await addMintable(service);
    const archive = (isArchived: boolean) => service.db.transaction((tx) => setArchived(tx, rwa, isArchived));
    await archive(true);
    const { body } = await acme.post(path).send({ secret, recipient }).expect(409);
    expect(body).toMatchObject({ code: 'rwa_archived', detail: 'RWA is archived' });
    expect(await queuedKeys(service)).not.toContain(nft.id);
    await archive(false);
    await acme.post(path).send({ secret, recipient }).expect(200);
    await archive(true);
    await acme.post(path).send({ secret, recipient }).expect(200);
  });

  test.for([
    ['has no contract to mint on', (db: Database) => db('networks').update({ minter_contract: null })],
    ['has nobody to sign', (db: Database) => db('mint_lanes').delete()],
  ] as const)('one whose network %s', async ([_name, take], { service, acme }) => {
    const { nft, path, secret } = await addMintable(service);
    const networks = await service.db('networks');
    const lanes = await service.db('mint_lanes');
    await take(service.db);
    const { body } = await acme.post(path).send({ secret }).expect(409);
    await service.db('networks').update({ minter_contract: networks[0].minter_contract });
    await service.db('mint_lanes').insert(lanes).onConflict(['chain_id', 'signer']).merge();
    expect(body.detail).toBe('Network with chainId 31337 is not supported for minting');
    expect(await rowOf(service, nft.id)).toMatchObject({ mint_state: 'unclaimed' });
  });

  test('one of a contract that is known as none, until it is known as one', async ({ service, acme }) => {
    const { nft, path, secret } = await addMintable(service);
    const known = { chainId: '31337', contract: contractAddress, detail: 'Looked at.' };
    await saveContractVerdicts(service.db, [{ ...known, verdict: 'unfit' }]);
    const { body } = await acme.post(path).send({ secret }).expect(409);
    const detail = `Contract ${contractAddress} of the RWA cannot be minted on: Looked at.`;
    expect(body).toMatchObject({ code: 'contract_unmintable', detail });
    expect(await rowOf(service, nft.id)).toMatchObject({ mint_state: 'unclaimed' });
    // A right that is missing may be granted while the mint waits.
    for (const verdict of ['forbidden', 'fit'] as const) {
      await saveContractVerdicts(service.db, [{ ...known, verdict }]);
      await acme.post(path).send({ secret }).expect(200);
    }
    await service.db('contract_verdicts').delete();
  });
});

describe('side by side', () => {
  test('of 200 requests for one NFT one is accepted and every answer is truthful', async ({
    service,
    acme,
  }) => {
    const { nft, path, secret } = await addMintable(service);
    // Two recipients: whoever comes first decides which of them is answered with 200.
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        acme.post(path).send({ secret, recipient: index % 2 === 0 ? recipient : otherRecipient }),
      ),
    );
    const row = await rowOf(service, nft.id);
    expect(row.mint_state).toBe('queued');
    answers.forEach(({ status, body }, index) => {
      const wanted = index % 2 === 0 ? recipient : otherRecipient;
      expect([status, body.code]).toEqual(
        wanted === row.recipient ? [200, undefined] : [409, 'nft_already_queued'],
      );
    });
    expect((await queuedKeys(service)).filter((key) => key === nft.id)).toHaveLength(1);
  });
});
