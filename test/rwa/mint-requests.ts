import { expect } from 'vitest';
import type { TestService } from '../support/service.ts';
import { addNft, addRwa, serviceVault } from './samples.ts';

/** Who else but the treasury of the company may get an NFT. */
export const otherRecipient = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
export const treasury = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

/** A claimable RWA of the company with one NFT, and the secret of that. */
export async function addMintable(service: TestService, company: 'acme' | 'globex' = 'acme', more = {}) {
  const rwa = await addRwa(service.db, service.companies[company], { isClaimable: true, ...more });
  const nft = await addNft(service.db, serviceVault, rwa);
  const path = `/v1/api/nft/${nft.id}/mint`;
  return { rwa, nft, path, secret: serviceVault.open(nft.id, nft.sealed) };
}

/** Ids of the NFTs that a job waits for. */
export async function queuedKeys(service: TestService): Promise<string[]> {
  await service.parts.jobs.open();
  const rows = await service.db('pgboss.job').where({ name: 'mint-nft' }).select('singleton_key', 'data');
  for (const row of rows) {
    if (JSON.stringify(row.data) !== JSON.stringify({ key: row.singleton_key })) {
      throw new Error(`a job carries more than its key: ${JSON.stringify(row.data)}`);
    }
  }
  return rows.map((row) => row.singleton_key);
}

/** Does the work while no node of the network answers, as the service knows. */
export async function withoutNodes<T>(
  { db, parts }: Pick<TestService, 'db' | 'parts'>,
  work: () => Promise<T>,
): Promise<T> {
  const use = async (urls: readonly string[]) => {
    await db('networks').where({ chain_id: 31337 }).update({ rpc_urls: urls });
    await expect.poll(async () => (await parts.networks.find('31337'))?.rpcUrls).toEqual(urls);
  };
  const { rpc_urls: urls } = await db('networks').where({ chain_id: 31337 }).first('rpc_urls');
  await use(['http://127.0.0.1:9']);
  return work().finally(() => use(urls));
}
