import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type LocalInstance, startLocalInstance } from '../../scripts/local-instance.ts';
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createChainRpc } from '../../src/local/programs/chain-rpc.ts';
import type { NftEntry } from '../../src/providers/shared/provider.ts';

const patience = { interval: 100, timeout: 40_000 };
const imageUrl = 'https://images.example/cask-117.jpg';
let service: LocalInstance;
let credentials: LocalInstance['credentials'];

/** As `npm start` does, with everything that it sets by itself. */
beforeAll(async () => {
  service = await startLocalInstance();
  credentials = service.credentials;
});

afterAll(() => service.stop());

async function call<T>(path: string, body?: object): Promise<T> {
  const answer = await fetch(`${credentials.baseUrl}${path}`, {
    headers: { 'x-api-key': credentials.keys.acme, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as T; // as the contract has it
}

test('a minted NFT of the local service has its name and picture in the NFT list of its owner', async () => {
  const { rwas } = await call<{ rwas: { id: string; name: string }[] }>('/v1/api/rwa?isClaimable=true');
  const [rwa] = rwas;
  const db = createDatabase(credentials.databaseUrl, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  await db('rwas').where({ id: rwa?.id }).update({ image_url: imageUrl });
  await db.destroy();
  const recipient = credentials.wallets[5];
  const { statusUrl } = await call<{ statusUrl: string }>(`/v1/api/rwa/${rwa?.id}/mint`, { recipient });
  const minted = await vi.waitFor(async () => {
    const nft = await call<{ claimStatus: string; tokenId: string; serial: string }>(statusUrl);
    expect(nft.claimStatus).toBe('minted');
    return nft;
  }, patience);

  const list = `/blockchain/v1/api/nft?chainId=31337&address=${recipient}&limit=100`;
  await vi.waitFor(async () => {
    const { result } = await call<{ result: NftEntry[] }>(list);
    const entry = result.find(({ token_id: id }) => id === minted.tokenId);
    expect(entry?.normalized_metadata).toMatchObject({
      name: `${rwa?.name} #${minted.serial}`,
      image: imageUrl,
    });
  }, patience);
});

test('the clock of the local chain is that of the machine from the first start on', async () => {
  const rpc = createChainRpc(credentials.rpcUrl);
  const seconds = () => Math.floor(Date.now() / 1_000);
  const before = seconds();
  await rpc.call('evm_mine');
  const { timestamp } = (await rpc.call('eth_getBlockByNumber', 'latest', false)) as { timestamp: string };
  expect(Number(timestamp)).toBeGreaterThanOrEqual(before);
  expect(Number(timestamp)).toBeLessThanOrEqual(seconds());
});

test('operators of the local service find its metrics where they are told to', async () => {
  const answer = await fetch(`${credentials.operationsUrl}/metrics`);
  expect(await answer.text()).toContain('tallystick_mint_minted_total{chain_id="31337"');
});
