import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Contract, JsonRpcProvider, Wallet } from 'ethers';
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { desktop, faultsOf, type Open, overhang, phone, useBrowser } from './browser.ts';
import { ask, makeThings } from './sample-world.ts';
import { tools } from './tools.ts';

const explorer = 'https://explorer.example';
const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>`;

/** An NFT as whoever scans its code has it. */
type Held = { readonly nftId: string; readonly secret: string; readonly link: string };

async function printCode(): Promise<Held> {
  const { nftId, secret } = await makeThings([]);
  const { body } = await ask('GET', `/v1/api/nft/${nftId}`);
  const { url } = body as { url: string };
  expect(url).toBe(`${inject('live').baseUrl}/claim/${nftId}#${secret}`);
  return { nftId, secret, link: url };
}

const chain = () => new JsonRpcProvider(inject('live').rpcUrl, undefined, { staticNetwork: true });

async function ownerOf(nftId: string) {
  const { body } = await ask('GET', `/v1/api/nft/${nftId}`);
  const { tokenId, recipient, claimStatus, rwa } = body as {
    tokenId: string;
    recipient: string;
    claimStatus: string;
    rwa: { contractAddress: string };
  };
  const abi = [
    'function ownerOf(uint256) view returns (address)',
    'function transferFrom(address, address, uint256)',
  ];
  return { tokenId, recipient, claimStatus, contract: new Contract(rwa.contractAddress, abi, chain()) };
}

const headline = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
const claimFor = async (page: Page, address: string) => {
  await page.getByLabel('Address of your wallet').fill(address);
  await page.getByRole('button', { name: 'Claim', exact: true }).click();
};

/** What is announced by EIP-6963, or stands in `window.ethereum`; its account is made here. */
const walletScript = (address: string, { announced = true, refusal = 0 } = {}) => `
  window.asked = [];
  const provider = { request: async ({ method }) => {
    window.asked.push(method);
    if (${refusal}) throw Object.assign(new Error('no'), { code: ${refusal} });
    return ['${address.toLowerCase()}'];
  } };
  const info = { uuid: 'one', name: 'Test <b>Wallet</b>', icon: 'https://icons.example/x.png' };
  if (${announced}) addEventListener('eip6963:requestProvider', () => dispatchEvent(
    new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })));
  else window.ethereum = provider;`;

describe.skipIf(tools.chromium === undefined)('whoever scans a printed code', () => {
  const openTab = useBrowser();
  let held: Held;
  beforeAll(async () => {
    const env = { ...process.env, DATABASE_URL: inject('live').databaseUrl, AREAS: 'events' };
    const cli = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
    const args = [cli, 'network', 'update', '31337', '--explorer-url', explorer];
    await promisify(execFile)(process.execPath, args, { env });
  });
  beforeEach(async () => {
    held = await printCode();
  });

  /** A page of its own context; the only foreign host that it may ask is that of the picture. */
  async function open(options: Parameters<Open>[0] = phone, script = '') {
    const { page, complaints } = await openTab(options);
    await page.route('https://images.example/**', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: picture }),
    );
    if (script !== '') await page.addInitScript(script);
    const urls: string[] = [];
    page.on('request', (request) => urls.push(`${request.url()} ${request.headers()['referer'] ?? ''}`));
    return {
      page,
      urls,
      complaints: () => complaints.filter((text) => !text.startsWith('asked https://images.example/')),
      close: () => page.context().close(),
    };
  }

  test('claims it with a phone, comes back, and sees its transaction on the chain', async () => {
    const { page, urls, complaints, close } = await open();
    const wallet = Wallet.createRandom().address;
    await page.goto(held.link);
    await headline(page, 'Yours to claim');
    await page.getByRole('heading', { level: 1, name: 'Islay single malt, cask 117' }).waitFor();
    await page.getByRole('img', { name: 'Picture of Islay' }).waitFor();
    expect(await page.getByText(/No\. \d{6}/).isVisible()).toBe(true);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);

    await chain().send('evm_setAutomine', [false]);
    try {
      await claimFor(page, wallet);
      await headline(page, 'On its way');
      // The form has gone: whoever listens is where it goes on.
      expect(await page.evaluate('document.activeElement.id')).toBe('headline');
      expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
      await page.reload();
      await headline(page, 'On its way');
      expect(await page.locator('[aria-current=step]').textContent()).toBe('Sent to the network');
    } finally {
      await chain().send('evm_setAutomine', [true]);
      await chain().send('evm_mine', []);
    }
    await headline(page, 'Claimed');
    const { contract, tokenId } = await ownerOf(held.nftId);
    expect(await contract.getFunction('ownerOf')(tokenId)).toBe(wallet);
    expect(await page.locator('#owner').textContent()).toBe(wallet);
    const link = page.locator('#transaction a');
    expect(await link.getAttribute('href')).toBe(`${explorer}/tx/${await link.textContent()}`);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);

    await page.goto('about:blank');
    await page.goBack();
    await headline(page, 'Claimed');
    expect(urls.filter((url) => url.split('#')[0]?.includes(held.secret))).toEqual([]);
    const stored = await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]');
    expect(stored).toEqual([0, 0, '']);
    expect(complaints()).toEqual([]);
    await close();
  });

  test('is shown who has it when somebody was faster', async () => {
    const wallet = Wallet.createRandom().address;
    const slow = await open(desktop);
    await slow.page.goto(held.link);
    await headline(slow.page, 'Yours to claim');
    expect([await faultsOf(slow.page), await overhang(slow.page)]).toEqual([[], 0]);
    const body = { secret: held.secret, recipient: wallet };
    expect((await ask('POST', `/claim/v1/api/claims/${held.nftId}`, body)).status).toBe(200);
    await claimFor(slow.page, Wallet.createRandom().address);
    await slow.page.getByText('Somebody has claimed it already, for the wallet above.').waitFor();
    expect(await slow.page.locator('#owner').textContent()).toBe(wallet);
    await headline(slow.page, 'Claimed');
    expect((await ownerOf(held.nftId)).recipient).toBe(wallet);

    const second = await open();
    await second.page.goto(held.link);
    await headline(second.page, 'Claimed');
    expect(await second.page.locator('#owner').textContent()).toBe(wallet);
    expect(await second.page.getByRole('button', { name: 'Claim', exact: true }).count()).toBe(0);
    await Promise.all([slow.close(), second.close()]);
  });

  test('uses the wallet of the browser, which is asked for its address and nothing else', async () => {
    const signer = Wallet.createRandom().connect(chain());
    const { page, complaints, close } = await open(desktop, walletScript(signer.address));
    await page.goto(held.link);
    // What an extension says of itself is text, and its icon is data or none.
    await page.getByRole('button', { name: 'Use Test <b>Wallet</b>' }).click();
    await page.waitForSelector('#claim:focus');
    await page.keyboard.press('Enter');
    await headline(page, 'Claimed');
    expect(await page.evaluate('asked')).toEqual(['eth_requestAccounts']);
    expect(complaints()).toEqual([]);
    await close();
    // It is the wallet's: its key moves it on.
    const { contract, tokenId } = await ownerOf(held.nftId);
    await chain().send('anvil_setBalance', [signer.address, '0xde0b6b3a7640000']);
    const next = Wallet.createRandom().address;
    const moved = contract.connect(signer) as Contract;
    await (await moved.getFunction('transferFrom')(signer.address, next, tokenId)).wait();
    expect(await contract.getFunction('ownerOf')(tokenId)).toBe(next);
  });

  test('is told in words when the wallet gives no address, and may type one', async () => {
    const script = walletScript('0x', { announced: false, refusal: 4001 });
    const { page, close } = await open(phone, script);
    await page.goto(held.link);
    await page.getByRole('button', { name: 'Use the wallet in this browser' }).click();
    await page.getByRole('alert').filter({ hasText: 'You declined in the wallet.' }).waitFor();
    await claimFor(page, '0x12');
    await page.getByRole('alert').filter({ hasText: 'An address is 0x and 40 digits' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await claimFor(page, `0x${'0'.repeat(40)}`);
    await page.getByRole('alert').filter({ hasText: 'must not be the zero address' }).waitFor();
    await claimFor(page, Wallet.createRandom().address);
    await headline(page, 'Claimed');
    await close();
  });

  test('goes on by itself after an outage, and claims once although the answer was lost', async () => {
    const { page, close } = await open();
    await page.route('**/claim/v1/api/**', (route) => route.abort());
    await page.goto(held.link);
    await page.getByText('No answer from the service.').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.unroute('**/claim/v1/api/**');
    await headline(page, 'Yours to claim');
    await page.route('**/claims/*', async (route) => {
      await route.fetch();
      await route.abort();
    });
    const wallet = Wallet.createRandom().address;
    await claimFor(page, wallet);
    await headline(page, 'Claimed');
    expect((await ownerOf(held.nftId)).recipient).toBe(wallet);
    await close();
  });

  test('reads why a claim failed, and may claim again', async () => {
    const { page, close } = await open();
    const failed = {
      claimStatus: 'failed',
      mintError: 'The contract refuses this recipient.',
      isClaimable: true,
    };
    await page.route('**/state', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), ...failed } });
    });
    await page.goto(held.link);
    await headline(page, 'The claim did not succeed');
    await page.getByText('The contract refuses this recipient. Nothing is lost').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.unroute('**/state');
    await claimFor(page, Wallet.createRandom().address);
    await headline(page, 'Claimed');
    await close();
  });

  test.each([
    ['This link is not complete', () => held.link.split('#')[0] ?? ''],
    ['This link is not complete', () => held.link.replace(held.nftId, 'cut')],
    ['This link does not work', () => `${held.link}x`],
  ])('reads "%s"', async (words, link) => {
    const { page, close } = await open();
    const tries: string[] = [];
    page.on('request', (request) => request.url().includes('/v1/api/') && tries.push(request.url()));
    await page.goto(link());
    await headline(page, words);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
    // A wrong secret is counted, so it is not tried again unasked.
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    expect(tries.length).toBeLessThanOrEqual(1);
    await close();
  });

  test('is told until when to wait after too many wrong codes', async () => {
    // It has the form of a secret: other texts are not counted.
    const secret = 'x'.repeat(32);
    for (let left = 5; left > 0; left -= 1)
      await ask('POST', `/claim/v1/api/claims/${held.nftId}/state`, { secret });
    const { page, close } = await open();
    await page.goto(held.link.replace(/#.*/, `#${secret}`));
    await headline(page, 'Too many wrong links');
    await page.getByRole('button', { name: 'Look again' }).waitFor();
    await close();
  });
});
