import { describe, expect } from 'vitest';
import { setArchived } from '../../src/rwa/assets/rwa-change-store.ts';
import { saveContractVerdicts } from '../../src/rwa/minting/contract-verdict-store.ts';
import { setMintQuota } from '../../src/rwa/operators/company-limit-store.ts';
import { test } from '../support/fixtures.ts';
import { addClaimable, addClosed, claimPaths, unclaimableIds, wrongSecret } from './claim-requests.ts';
import { otherRecipient, queuedKeys } from './mint-requests.ts';
import { contractAddress, markMinted, recipient } from './samples.ts';

describe('200', () => {
  test('queues the NFT for its recipient, without a key, once however often it is asked', async ({
    service,
    anyone,
    acme,
  }) => {
    const { nft, secret, claimPath } = await addClaimable(service);
    const send = () => anyone.post(claimPath).send({ secret, recipient: recipient.toLowerCase() });
    const answers = await Promise.all([send(), send(), send()]);
    for (const { status, body, headers } of answers) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ claimStatus: 'queued', recipient, isClaimable: false, mintedTx: null });
      expect(headers['cache-control']).toBe('no-store');
    }
    expect((await queuedKeys(service)).filter((key) => key === nft.id)).toHaveLength(1);
    const { body } = await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    expect(body).toMatchObject({ claimStatus: 'queued', recipient });
    const entries = await service.db('audit_log').where({ action: 'nft.mint', subject: nft.id });
    expect(entries).toMatchObject([
      { actor_kind: 'holder', actor: 'holder', company_id: service.companies.acme, details: { recipient } },
    ]);
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  test('a failed one may be claimed again, by somebody else', async ({ service, anyone }) => {
    const { nft, secret, claimPath } = await addClaimable(service);
    const failed = { mint_state: 'failed', mint_error: 'x', recipient };
    await service.db('nfts').where({ id: nft.id }).update(failed);
    const sent = anyone.post(claimPath).send({ secret, recipient: otherRecipient });
    const { body } = await sent.expect(200);
    expect(body).toMatchObject({ claimStatus: 'queued', recipient: otherRecipient, mintError: null });
  });
});

describe('400', () => {
  test.for([
    ['Secret is required', { recipient }],
    ['Recipient is required', { secret: 'x' }],
    ['Recipient is required', { secret: 'x', recipient: null }],
    ['recipient must be 0x and 40 hex digits', { secret: 'x', recipient: '0x12' }],
    ['recipient must not be the zero address', { secret: 'x', recipient: `0x${'0'.repeat(40)}` }],
    ['recipient has a wrong EIP-55 checksum', { secret: 'x', recipient: recipient.replace('C', 'c') }],
  ] as const)('says %s, before anything is looked up', async ([detail, body], { service, anyone }) => {
    const [{ id }] = await unclaimableIds(service);
    const answer = await anyone.post(claimPaths(id).claimPath).send(body).expect(400);
    expect(answer.body.detail).toBe(detail);
    expect(await service.db('wrong_secrets').where({ nft_id: id })).toEqual([]);
  });
});

describe('404', () => {
  test('the right secret claims nothing of an NFT that did not opt in, and reads that it is not open', async ({
    service,
    anyone,
  }) => {
    const { nft, secret, claimPath } = await addClosed(service);
    const { body } = await anyone.post(claimPath).send({ secret, recipient }).expect(404);
    expect(body).toMatchObject({ code: 'claim_not_open', detail: 'This NFT is not open for claims yet' });
    expect(await queuedKeys(service)).not.toContain(nft.id);
  });

  test('a wrong secret, an unknown NFT and one that did not opt in change nothing', async ({
    service,
    anyone,
  }) => {
    const { nft, claimPath } = await addClaimable(service);
    const tried = [{ id: nft.id, secret: wrongSecret(), claimPath }];
    for (const each of await unclaimableIds(service)) tried.push({ ...each, ...claimPaths(each.id) });
    for (const { id, secret, claimPath: path } of tried) {
      const { body } = await anyone.post(path).send({ secret, recipient }).expect(404);
      expect(body).toMatchObject({ code: 'claim_not_found', detail: 'No claim with this id and secret' });
      expect(body.errors).toBeUndefined();
      expect(await queuedKeys(service)).not.toContain(id);
    }
  });
});

describe('409, told only to one who holds the secret', () => {
  test.for([
    ['nft_already_minted', 'it is minted'],
    ['nft_already_queued', 'it is queued for somebody else'],
    ['rwa_not_claimable', 'its RWA is not claimable'],
    ['rwa_archived', 'its RWA is archived'],
    ['minting_unsupported', 'its network mints nothing'],
    ['contract_unmintable', 'its contract is known as none'],
  ] as const)('%s when %s', async ([code], { service, anyone }) => {
    const { rwa, nft, secret, claimPath } = await addClaimable(service);
    if (code === 'nft_already_minted') await markMinted(service.db, nft.id);
    if (code === 'nft_already_queued') {
      await anyone.post(claimPath).send({ secret, recipient: otherRecipient }).expect(200);
    }
    if (code === 'rwa_not_claimable') {
      await service.db('rwas').where({ id: rwa.id }).update({ is_claimable: false });
    }
    if (code === 'rwa_archived') await service.db.transaction((tx) => setArchived(tx, rwa, true));
    const minter = (address: string | null) =>
      service.db('networks').where({ chain_id: '31337' }).update({ minter_contract: address });
    if (code === 'minting_unsupported') await minter(null);
    if (code === 'contract_unmintable') {
      const unfit = { chainId: '31337', contract: contractAddress, verdict: 'unfit', detail: 'x' } as const;
      await saveContractVerdicts(service.db, [unfit]);
    }
    try {
      const stranger = await anyone.post(claimPath).send({ secret: wrongSecret(), recipient }).expect(404);
      expect(stranger.body.code).toBe('claim_not_found');
      const { body } = await anyone.post(claimPath).send({ secret, recipient }).expect(409);
      expect(body.code).toBe(code);
    } finally {
      await minter(contractAddress);
      await service.db('contract_verdicts').delete();
    }
  });
});

describe('429', () => {
  test('after five wrong secrets, and claims with the right one all the same', async ({
    service,
    anyone,
  }) => {
    const { nft, secret, claimPath } = await addClaimable(service);
    const guess = () => anyone.post(claimPath).send({ secret: wrongSecret(), recipient });
    for (let left = 5; left > 0; left -= 1) await guess().expect(404);
    const { body, headers } = await guess().expect(429);
    expect(body.code).toBe('secret_locked');
    expect(Number(headers['retry-after'])).toBeGreaterThan(14 * 60);
    expect(await queuedKeys(service)).not.toContain(nft.id);
    await anyone.post(claimPath).send({ secret, recipient }).expect(200);
    expect(await queuedKeys(service)).toContain(nft.id);
  });

  test('beyond what the company may mint in a day', async ({ service, anyone }) => {
    const { secret, claimPath } = await addClaimable(service);
    const limit = (mints: number | null) =>
      service.db.transaction((tx) => setMintQuota(tx, service.companies.acme, mints));
    await limit(0);
    const { body } = await anyone.post(claimPath).send({ secret, recipient }).expect(429);
    expect(body.code).toBe('mint_quota_exceeded');
    await limit(null);
    await anyone.post(claimPath).send({ secret, recipient }).expect(200);
  });
});
