import { Interface } from 'ethers';
import { describe, expect } from 'vitest';
import { deployData } from '../../src/chain/contracts/contract-calls.ts';
import { worldContracts } from '../../src/local/sample/contracts.ts';
import type { TestChain } from '../support/chain.ts';
import { callNode, sendMined } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { indexChain } from '../support/index-chain.ts';
import type { TestService } from '../support/service.ts';

const { SampleToken } = worldContracts;
const abi = new Interface(SampleToken.abi);
/** The third account of the chain, whose lists are walked. */
const wallet = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const spender = '0x90f79bf6eb2c4f870365e785982e1f101e93b906';

/** The wallet gets tokens of new contracts, and lets somebody move them. */
async function addTokens({ rpcUrl }: TestChain, count: number): Promise<void> {
  for (let added = 0; added < count; added += 1) {
    const to = await sendMined(rpcUrl, { data: deployData(SampleToken, ['Dollar', 'USD']) });
    await sendMined(rpcUrl, { to, data: abi.encodeFunctionData('mint', [wallet, 100n]) });
    const data = abi.encodeFunctionData('approve', [spender, 50n]);
    await sendMined(rpcUrl, { from: wallet, to, data });
  }
}

const test = base.extend('serviceOptions', perFile, ({ chain }) => ({ rpcUrl: chain.rpcUrl }));
test.beforeAll(({ chain }) => addTokens(chain, 9));

type Page = { readonly tokens: readonly string[]; readonly cursor: string | undefined };

async function page(service: TestService, path: string, query: Record<string, string>): Promise<Page> {
  const asked = new URLSearchParams({ address: wallet, chainId: '31337', ...query });
  const client = service.as(service.keys.noCompany);
  const { body } = await client.get(`/blockchain/v1/api/wallet/${path}?${asked}`).expect(200);
  const rows: { readonly token_address: string }[] = body.result;
  return { tokens: rows.map(({ token_address: token }) => token), cursor: body.cursor };
}

/** Returns the tokens of the pages behind one. @param meanwhile is done before each of them */
async function walkOn(
  service: TestService,
  path: string,
  { cursor }: Page,
  meanwhile?: () => Promise<void>,
): Promise<string[]> {
  if (cursor === undefined) return [];
  await meanwhile?.();
  const next = await page(service, path, { cursor });
  return [...next.tokens, ...(await walkOn(service, path, next, meanwhile))];
}

// Histories and NFT lists are walked in test/indexer/model. Each page of these asks contracts, which takes the chain a while.
const walks = [
  ['tokens', '5'],
  ['approvals', '2'],
] as const;

describe('a walk', () => {
  test.for(walks)('sees each row once while blocks come: %s', async ([path, limit], { chain, service }) => {
    await indexChain(service, chain.rpcUrl);
    const start = (await page(service, path, { limit: '100' })).tokens;
    let added = 0;
    const first = await page(service, path, { limit });
    const rest = await walkOn(service, path, first, async () => {
      added += 1;
      // More would make the walk endless.
      if (added > 3) return;
      await addTokens(chain, 1);
      await indexChain(service, chain.rpcUrl);
    });
    const seen = [...first.tokens, ...rest];
    expect(added).toBeGreaterThan(0);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((token) => start.includes(token))).toEqual(start);
  });

  test.for(walks)('goes on in the new branch: %s', async ([path, limit], { chain, service }) => {
    const before = await callNode<string>(chain.rpcUrl, 'evm_snapshot', []);
    await addTokens(chain, 3);
    await indexChain(service, chain.rpcUrl);
    const old = (await page(service, path, { limit: '100' })).tokens;
    const first = await page(service, path, { limit });
    await callNode(chain.rpcUrl, 'evm_revert', [before]);

    // From here on the deployer's contracts have other addresses.
    await sendMined(chain.rpcUrl, { to: spender, data: '0x' });
    await addTokens(chain, 3);
    await indexChain(service, chain.rpcUrl);
    const present = (await page(service, path, { limit: '100' })).tokens;
    expect(new Set(present)).not.toEqual(new Set(old));
    const last = first.tokens.at(-1) ?? '';
    expect(await walkOn(service, path, first)).toEqual(present.filter((token) => token > last));
  });
});
