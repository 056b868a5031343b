import { JsonRpcProvider } from 'ethers';
import type { Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { textsOf } from '../../../pages/page-modules.ts';
import { type Open, open as openTab, phone } from '../browser.ts';
import { ask, makeNft } from '../sample-world.ts';

export const texts = await textsOf('en');

/** An NFT as whoever scans its code has it. */
export type Held = { readonly nftId: string; readonly secret: string; readonly link: string };

export const linkOf = (nftId: string, secret: string) => `${inject('live').baseUrl}/claim/${nftId}#${secret}`;

export async function printCode(): Promise<Held> {
  const { nftId, secret } = await makeNft();
  const { body } = await ask('GET', `/v1/api/nft/${nftId}`);
  const { url } = body as { url: string };
  expect(url).toBe(linkOf(nftId, secret));
  return { nftId, secret, link: url };
}

export const chain = () => new JsonRpcProvider(inject('live').rpcUrl, undefined, { staticNetwork: true });

export type Nft = {
  readonly tokenId: string;
  readonly recipient: string | null;
  readonly claimStatus: string;
  readonly rwa: { readonly contractAddress: string; readonly chainId: number };
};

export async function nftOf(nftId: string): Promise<Nft> {
  return (await ask('GET', `/v1/api/nft/${nftId}`)).body as Nft; // as documented
}

export const headline = (page: Page, name = '') => page.getByRole('heading', { name, exact: true }).waitFor();

/** Gives an address to the page, up to its confirmation or to what is said against it. */
export async function give(page: Page, address: string): Promise<void> {
  await page.getByLabel('Address of your wallet').fill(address);
  await page.getByRole('button', { name: 'Continue' }).click();
}

export const confirm = (page: Page) => page.getByRole('button', { name: 'Yes, send it there' }).click();

export async function claimFor(page: Page, address: string): Promise<void> {
  await give(page, address);
  await confirm(page);
}

/** Changes what the page reads of its claim. */
export const alterClaim = (page: Page, changes: object) =>
  page.route('**/state', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...changes } });
  });

/** An empty tab that may ask no foreign host but that of the picture. */
export async function open(options: Parameters<Open>[0] = phone, script = '') {
  const { page, complaints } = await openTab(options);
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>`;
  await page.route('https://images.example/**', (route) =>
    route.fulfill({ contentType: 'image/svg+xml', body: picture }),
  );
  if (script !== '') await page.addInitScript(script);
  const urls: string[] = [];
  /** The operations that were called, each with its body. */
  const calls: { readonly path: string; readonly body: string }[] = [];
  page.on('request', (request) => {
    urls.push(`${request.url()} ${request.headers()['referer'] ?? ''}`);
    const [, path] = /\/claim\/v1\/api\/claims\/(.*)$/.exec(request.url()) ?? [];
    if (path !== undefined) calls.push({ path, body: request.postData() ?? '' });
  });
  return {
    page,
    urls,
    calls,
    complaints: () => complaints.filter((text) => !text.startsWith('asked https://images.example/')),
    close: () => page.context().close(),
  };
}

/** What is announced by EIP-6963, or stands in `window.ethereum`; its account is made here. */
export const walletScript = (address: string, { announced = true, refusal = 0, chainId = '0x7a69' } = {}) => `
  window.asked = [];
  const provider = { request: async ({ method, params }) => {
    window.asked.push(params ? [method, params] : method);
    if (${refusal}) throw Object.assign(new Error('no'), { code: ${refusal} });
    if (method === 'eth_chainId') return '${chainId}';
    if (method === 'wallet_watchAsset') return true;
    return ['${address.toLowerCase()}'];
  } };
  const info = { uuid: 'one', name: 'Test <b>Wallet</b>', icon: 'https://icons.example/x.png' };
  if (${announced}) addEventListener('eip6963:requestProvider', () => dispatchEvent(
    new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })));
  else window.ethereum = provider;`;
