import { describe, expect } from 'vitest';
import { callNode } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { startNode } from '../support/node/node.ts';
import { delay, failures } from '../support/node/transport-flaws.ts';
import { addClaimable, addClosed, claimPaths, unclaimableIds, wrongSecret } from './claim-requests.ts';
import { contractAddress, recipient } from './samples.ts';

const test = base
  .extend('node', perFile, async ({ chain }, { onCleanup }) => {
    const node = await startNode(chain.rpcUrl);
    onCleanup(() => node.close());
    return node;
  })
  .extend('serviceOptions', perFile, ({ node }) => ({ rpcUrl: node.url }));

const checkPath = (nftId: string) => `${claimPaths(nftId).claimPath}/recipient`;
const wrong = wrongSecret();

describe('200', () => {
  test('tells wallets from contracts, and changes nothing', async ({ service, anyone, chain, node }) => {
    const { nft, secret } = await addClaimable(service);
    const row = () => service.db('nfts').where({ id: nft.id }).first();
    const before = await row();
    const coin = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
    await callNode(chain.rpcUrl, 'anvil_setCode', [coin, '0x6000']);
    const delegating = '0x976EA74026E726554dB657fA54763abd0C3a0aa9';
    const to = `0xef0100${coin.slice(2)}`;
    await callNode(chain.rpcUrl, 'anvil_setCode', [delegating, to]);
    node.forget();
    for (const [address, hasCode] of [
      [recipient, false],
      [coin, true],
      [delegating, false],
    ] as const) {
      const sent = anyone.post(checkPath(nft.id)).send({ secret, recipient: address.toLowerCase() });
      const { body, headers } = await sent.expect(200);
      expect(body).toEqual({ recipient: address, hasCode });
      expect(headers['cache-control']).toBe('no-store');
    }
    expect(node.methods().filter((method) => method === 'eth_getCode')).toHaveLength(3);
    expect(await row()).toEqual(before);
    expect(await service.db('audit_log').where({ subject: nft.id })).toEqual([]);
  });

  test('knows nothing of the code while the node fails or stalls', async ({ service, anyone, node }) => {
    const { nft, secret } = await addClaimable(service);
    const ask = async () =>
      (await anyone.post(checkPath(nft.id)).send({ secret, recipient }).expect(200)).body.hasCode;
    node.setFlaws(failures.drop);
    expect(await ask()).toBeNull();
    node.setFlaws();
    const release = delay(node, 'eth_getCode');
    expect(await ask()).toBeNull();
    release();
  });
});

describe('400', () => {
  test('rejects what the claim would reject, without asking a node', async ({ service, anyone, node }) => {
    const { nft, secret } = await addClaimable(service);
    node.forget();
    const sent = anyone.post(checkPath(nft.id)).send({ secret, recipient: contractAddress });
    expect((await sent.expect(400)).body.code).toBe('recipient_unusable');
    expect(node.methods()).not.toContain('eth_getCode');
  });
});

describe('404', () => {
  test('a wrong secret, an unknown NFT and one that did not opt in ask no node', async ({
    service,
    anyone,
    node,
  }) => {
    const { nft } = await addClaimable(service);
    node.forget();
    const tried = [{ id: nft.id, secret: wrong }, ...(await unclaimableIds(service))];
    for (const { id, secret } of tried) {
      const { body } = await anyone.post(checkPath(id)).send({ secret, recipient }).expect(404);
      expect(body.code).toBe('claim_not_found');
    }
    const closed = await addClosed(service);
    const sent = anyone.post(checkPath(closed.nft.id)).send({ secret: closed.secret, recipient });
    expect((await sent.expect(404)).body.code).toBe('claim_not_open');
    expect(node.methods()).not.toContain('eth_getCode');
  });
});
