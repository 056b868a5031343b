import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Scope } from '../../src/contract/scopes.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { makeKnownData } from '../contract/known-data.ts';
import { test } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';

const base = '/v1/api';
const read = 'nft.secrets_read';

const keyWith = async (service: TestService, scopes: Scope[]) => {
  const { key, record } = await issueKey(service.db, 'test', {
    companyId: service.companies.acme,
    label: scopes.join(' '),
    scopes,
  });
  const entries = () => service.db('audit_log').where({ actor: record.id, action: read });
  return { caller: service.as(key), entries };
};

const shown = (nfts: readonly { secret: unknown; url: unknown }[]) =>
  nfts.map(({ secret, url }) => [typeof secret, typeof url]);
const hidden = [null, null];

describe('a key without secrets:read', () => {
  test('reads NFTs without their secrets and URLs, and the audit log has no entry of any', async ({
    service,
  }) => {
    const { nftId, rwaId, secret } = await makeKnownData(service, 'acme');
    const { caller, entries } = await keyWith(service, ['rwa:read']);
    for (const path of ['/nft', `/nft?rwaId=${rwaId}`, `/rwa/${rwaId}/nfts`]) {
      const { body, text } = await caller.get(base + path).expect(200);
      expect(body.length).toBeGreaterThan(0);
      for (const nft of body) expect([nft.secret, nft.url]).toEqual(hidden);
      expect(text).not.toContain(secret);
    }
    const one = await caller.get(`${base}/nft/${nftId}`).expect(200);
    expect([one.body.secret, one.body.url]).toEqual(hidden);
    expect(one.text).not.toContain(secret);
    expect(await entries()).toEqual([]);
  });

  test('changes an NFT and sends it back as it was read', async ({ service }) => {
    const { nftId } = await makeKnownData(service, 'acme');
    const { caller, entries } = await keyWith(service, ['rwa:read', 'rwa:write']);
    const { body: seen } = await caller.get(`${base}/nft/${nftId}`).expect(200);
    const { rwa: _rwa, owner: _owner, ownerSince: _since, burnedAt: _burned, mintNote: _note, ...own } = seen;
    const headers = { 'idempotency-key': randomUUID() };
    for (const replayed of [undefined, 'true']) {
      const changed = await caller
        .patch(`${base}/nft/${nftId}`)
        .set(headers)
        .send({ ...own, data: { shelf: 4 } })
        .expect(200);
      expect(changed.headers['idempotency-replayed']).toBe(replayed);
      expect([changed.body.secret, changed.body.url, changed.body.data]).toEqual([...hidden, { shelf: 4 }]);
    }
    expect(await entries()).toEqual([]);
  });
});

describe('rwa:write without secrets:read', () => {
  const elsewhere = 'https://claims.elsewhere.example/claim';

  test('cannot lead claims to another page, and sends back the page that it read', async ({ service }) => {
    const { rwaId } = await makeKnownData(service, 'acme');
    const { caller: blind } = await keyWith(service, ['rwa:read', 'rwa:write']);
    const { caller: seeing } = await keyWith(service, ['rwa:write', 'secrets:read']);
    const path = `${base}/rwa/${rwaId}`;
    const change = (claimBaseUrl: string | null) => ({ name: 'Cask 20', claimBaseUrl });
    await blind.patch(path).send(change(null)).expect(200);
    for (const [present, wanted] of [
      [null, elsewhere],
      ['https://claims.acme.example', elsewhere],
      ['https://claims.acme.example', null],
    ] as const) {
      await seeing.patch(path).send(change(present)).expect(200);
      const rejected = await blind.patch(path).send(change(wanted)).expect(403);
      expect(rejected.body).toMatchObject({
        code: 'insufficient_scope',
        detail: 'API key lacks the scope secrets:read',
      });
      const { body } = await blind.patch(path).send(change(present)).expect(200);
      expect(body.claimBaseUrl).toBe(present);
    }
    const made = { name: 'Cask', type: 'cask', chainId: 31337, claimBaseUrl: elsewhere };
    expect((await blind.post(`${base}/rwa`).send(made).expect(403)).body.code).toBe('insufficient_scope');
  });
});

test('whoever issues NFTs, a replay shows their secrets only to a key with secrets:read', async ({
  service,
}) => {
  const { rwaId } = await makeKnownData(service, 'acme');
  const blind = await keyWith(service, ['rwa:write']);
  const seeing = await keyWith(service, ['rwa:write', 'secrets:read']);
  for (const [first, second] of [
    [blind, seeing],
    [seeing, blind],
  ] as const) {
    const headers = { 'idempotency-key': randomUUID() };
    const issue = ({ caller }: typeof blind) =>
      caller.post(`${base}/rwa/${rwaId}/nfts`).set(headers).send({ count: 2 }).expect(200);
    const answers = new Map([
      [first, await issue(first)],
      [second, await issue(second)],
    ]);
    const [withSecrets, without] = [answers.get(seeing), answers.get(blind)];
    expect(withSecrets?.body.nfts.map(({ id }: { id: string }) => id)).toEqual(
      without?.body.nfts.map(({ id }: { id: string }) => id),
    );
    expect(answers.get(second)?.headers['idempotency-replayed']).toBe('true');
    expect(shown(withSecrets?.body.nfts)).toEqual([
      ['string', 'string'],
      ['string', 'string'],
    ]);
    for (const { secret, url } of withSecrets?.body.nfts ?? []) {
      expect(url.endsWith(`#${secret}`)).toBe(true);
      expect(without?.text).not.toContain(secret);
    }
    for (const { secret, url } of without?.body.nfts ?? []) expect([secret, url]).toEqual(hidden);
  }
  expect(await blind.entries()).toEqual([]);
  expect(await seeing.entries()).toHaveLength(1);
});
