import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Contract, Wallet } from 'ethers';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { desktop, faultsOf, overhang, phone } from '../browser.ts';
import { ask } from '../sample-world.ts';
import { tools } from '../tools.ts';
import {
  alterClaim,
  chain,
  claimFor,
  confirm,
  give,
  type Held,
  headline,
  nftOf,
  open,
  printCode,
  texts,
  walletScript,
} from './claim-page.ts';

const explorer = 'https://explorer.example';
const abi = [
  'function ownerOf(uint256) view returns (address)',
  'function transferFrom(address, address, uint256)',
];

async function ownerOf(nftId: string) {
  const { tokenId, rwa } = await nftOf(nftId);
  return new Contract(rwa.contractAddress, abi, chain()).getFunction('ownerOf')(tokenId);
}

describe.skipIf(tools.chromium === undefined)('whoever scans a printed code', () => {
  let held: Held;
  beforeAll(async () => {
    const env = { ...process.env, DATABASE_URL: inject('live').databaseUrl, AREAS: 'events' };
    const cli = fileURLToPath(new URL('../../../../src/cli.ts', import.meta.url));
    const args = [cli, 'network', 'update', '31337', '--explorer-url', explorer];
    await promisify(execFile)(process.execPath, args, { env });
  });
  beforeEach(async () => {
    held = await printCode();
  });

  test('claims it with a phone, comes back, and sees its transaction on the chain', async () => {
    const { page, urls, complaints, close } = await open();
    const wallet = Wallet.createRandom().address;
    await page.goto(held.link);
    await headline(page, 'Yours to claim');
    await page.getByRole('heading', { level: 1, name: 'Islay single malt, cask 117' }).waitFor();
    await page.getByRole('img', { name: 'Picture of Islay' }).waitFor();
    expect(await page.getByText(/No\.\s\d{6}/).isVisible()).toBe(true);
    const { networkName } = (await claimOf(held)) as { networkName: string };
    expect(await page.locator('#message').textContent()).toContain(networkName);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);

    await chain().send('evm_setAutomine', [false]);
    try {
      await give(page, `ethereum:${wallet.toLowerCase()}`);
      await headline(page, 'Is this your wallet?');
      // What is confirmed is exactly what is claimed for, in groups that an eye compares.
      expect(await page.locator('#confirm-address').textContent()).toBe(wallet);
      expect(await page.locator('#confirm-address span').allTextContents()).toHaveLength(11);
      expect(await page.locator('#confirm-text').textContent()).toMatch(
        `${networkName}. This cannot be undone.`,
      );
      expect(await page.evaluate('document.activeElement.id')).toBe('confirm-title');
      expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);
      await confirm(page);
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
    await headline(page, 'It is yours');
    expect(await ownerOf(held.nftId)).toBe(wallet);
    expect(await page.locator('#owner').textContent()).toBe(`${wallet.slice(0, 6)}…${wallet.slice(-4)}`);
    const hash = await page.locator('#transaction').getAttribute('title');
    const link = page.locator('#facts a').first();
    expect([await link.getAttribute('href'), await link.textContent()]).toEqual([
      `${explorer}/tx/${hash}`,
      'See it in the block explorer',
    ]);
    await page.getByRole('button', { name: 'Copy: Wallet' }).click();
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(wallet);
    expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);

    await page.goto('about:blank');
    await page.goBack();
    await headline(page, 'It is yours');
    expect(urls.filter((url) => url.split('#')[0]?.includes(held.secret))).toEqual([]);
    expect(complaints()).toEqual([]);
    await close();
  });

  test('is shown who has it when somebody was faster, and whom to ask', async () => {
    const wallet = Wallet.createRandom().address;
    const slow = await open(desktop);
    await slow.page.goto(held.link);
    await headline(slow.page, 'Yours to claim');
    expect([await faultsOf(slow.page), await overhang(slow.page)]).toEqual([[], 0]);
    await give(slow.page, Wallet.createRandom().address);
    await headline(slow.page, 'Is this your wallet?');
    const body = { secret: held.secret, recipient: wallet };
    expect((await ask('POST', `/claim/v1/api/claims/${held.nftId}`, body)).status).toBe(200);
    await confirm(slow.page);
    await slow.page.getByText(texts['faster'] ?? '').waitFor();
    await headline(slow.page, 'Already claimed');
    expect(await slow.page.evaluate('document.activeElement.id')).toBe('headline');
    expect(await slow.page.locator('#owner').getAttribute('title')).toBe(wallet);
    expect((await nftOf(held.nftId)).recipient).toBe(wallet);

    const second = await open();
    await alterClaim(second.page, { companyName: 'Casks & Co.' });
    await second.page.goto(held.link);
    await headline(second.page, 'Already claimed');
    await second.page.getByText('If that is not yours, ask Casks & Co.').waitFor();
    await second.page.getByText('From Casks & Co.').waitFor();
    expect(await second.page.getByRole('button', { name: 'Continue' }).count()).toBe(0);
    expect([await faultsOf(second.page), await overhang(second.page)]).toEqual([[], 0]);
    await Promise.all([slow.close(), second.close()]);
  });

  test('uses the wallet of the browser, which is asked for its address and to show the NFT', async () => {
    const signer = Wallet.createRandom().connect(chain());
    const { page, complaints, close } = await open(desktop, walletScript(signer.address));
    await page.goto(held.link);
    // What an extension says of itself is text, and its icon is data or none.
    await page.getByRole('button', { name: 'Use Test <b>Wallet</b>' }).click();
    await page.waitForSelector('#confirm-title:focus');
    expect(await page.locator('#confirm-address').textContent()).toBe(signer.address);
    await page.waitForSelector('#yes[aria-disabled=false]');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await headline(page, 'It is yours');
    expect(await page.evaluate('asked')).toEqual(['eth_requestAccounts']);
    await page.getByRole('button', { name: 'Show it in Test <b>Wallet</b>' }).click();
    await page.getByText('Your wallet shows it now.').waitFor();
    const { tokenId, rwa } = await nftOf(held.nftId);
    const options = { address: rwa.contractAddress, tokenId };
    expect(await page.evaluate('asked.slice(1)')).toEqual([
      'eth_chainId',
      ['wallet_watchAsset', { type: 'ERC721', options }],
    ]);
    expect(complaints()).toEqual([]);
    await close();
    // It is the wallet's: its key moves it on.
    const contract = new Contract(rwa.contractAddress, abi, chain()).connect(signer) as Contract;
    await chain().send('anvil_setBalance', [signer.address, '0xde0b6b3a7640000']);
    const next = Wallet.createRandom().address;
    await (await contract.getFunction('transferFrom')(signer.address, next, tokenId)).wait();
    expect(await ownerOf(held.nftId)).toBe(next);
  });

  test.each([
    [4001, ''],
    [-32601, texts['notAddedToWallet'] ?? ''],
  ])('is not bothered when the wallet shows no NFT (%i)', async (refusal, words) => {
    const { page, close } = await open(phone, walletScript('0x', { announced: false, refusal }));
    await alterClaim(page, {
      claimStatus: 'minted',
      isClaimable: false,
      mintedAt: '2027-05-04T09:00:00.000Z',
      mintedTx: `0x${'a'.repeat(64)}`,
      recipient: Wallet.createRandom().address,
    });
    await page.goto(held.link);
    await page.getByRole('button', { name: 'Show it in the wallet of this browser' }).click();
    await expect.poll(() => page.evaluate('asked.length')).toBe(1);
    await page.locator('#note').filter({ hasText: words }).waitFor({ state: 'attached' });
    expect(await page.locator('#note').textContent()).toBe(words);
    await close();
  });

  test('is told in words when the wallet gives no address, and may type one', async () => {
    const script = walletScript('0x', { announced: false, refusal: 4001 });
    const { page, close } = await open(phone, script);
    await page.goto(held.link);
    await page.getByRole('button', { name: 'Use the wallet in this browser' }).click();
    await page.getByRole('alert').filter({ hasText: 'You declined the request in the wallet.' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await claimFor(page, Wallet.createRandom().address);
    await headline(page, 'It is yours');
    await close();
  });

  test('is not stopped by a wallet that never answers, nor brought back by one that answers late', async () => {
    const late = Wallet.createRandom().address;
    const script = `window.ethereum = { request: () => new Promise((answer) => { window.answer = () => answer(['${late}']); }) };`;
    const { page, close } = await open(phone, script);
    await page.goto(held.link);
    await page.getByRole('button', { name: 'Use the wallet in this browser' }).click();
    const wallet = Wallet.createRandom().address;
    await give(page, wallet);
    await headline(page, 'Is this your wallet?');
    await page.evaluate('answer()');
    await confirm(page);
    await headline(page, 'It is yours');
    expect((await nftOf(held.nftId)).recipient).toBe(wallet);
    await close();
  });

  test('reads that it is theirs, even if they tried another address after the first was accepted unseen', async () => {
    const { page, close } = await open();
    const [first, second] = [Wallet.createRandom().address, Wallet.createRandom().address];
    await page.goto(held.link);
    await give(page, first);
    // The claim arrives; from then on no answer comes back.
    await page.route('**/claims/*', async (route) => {
      await page.route('**/claim/v1/api/**', (each) => each.abort());
      await route.fetch();
      await route.abort();
    });
    await confirm(page);
    await page
      .getByRole('alert')
      .filter({ hasText: texts['unreachable'] ?? '' })
      .waitFor();
    await give(page, second);
    await headline(page, 'Is this your wallet?');
    await page.unrouteAll();
    await confirm(page);
    await headline(page, 'It is yours');
    expect(await page.locator('#told').textContent()).toBe('');
    expect((await nftOf(held.nftId)).recipient).toBe(first);
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
    await headline(page, 'It is yours');
    expect((await nftOf(held.nftId)).recipient).toBe(wallet);
    await close();
  });

  test('reads why a claim failed, and may claim again', async () => {
    const { page, close } = await open();
    const failed = {
      claimStatus: 'failed',
      mintError: 'The contract refuses this recipient.',
      isClaimable: true,
    };
    await alterClaim(page, failed);
    await page.goto(held.link);
    await headline(page, 'That did not work');
    await page.getByText('Nothing is lost: you may claim it again.').waitFor();
    // The words of the service are an addition, which is opened.
    expect(await page.getByText(failed.mintError).isVisible()).toBe(false);
    await page.getByText('What the service reports').click();
    expect(await page.getByText(failed.mintError).isVisible()).toBe(true);
    expect(await faultsOf(page)).toEqual([]);
    await page.unroute('**/state');
    await claimFor(page, Wallet.createRandom().address);
    await headline(page, 'It is yours');
    await close();
  });

  test('reads that it takes longer, and the reason only as an addition', async () => {
    const { page, close } = await open();
    const mintNote = 'The operator has too little money for gas.';
    await alterClaim(page, { claimStatus: 'queued', isClaimable: false, mintNote });
    await page.goto(held.link);
    await page.getByText(texts['slow'] ?? '').waitFor();
    expect(await page.getByText(mintNote).isVisible()).toBe(false);
    await close();
  });

  test('without a wallet reads what to do, and is led nowhere that the operator did not name', async () => {
    const { page, close } = await open();
    await page.goto(held.link);
    await page
      .getByText('Any Ethereum wallet works. Come back with the same code; it stays yours.')
      .waitFor();
    await page.getByText('The deposit address of an exchange is not a wallet').waitFor();
    expect(await page.locator('a[href]').count()).toBe(0);
    await close();
  });
});

const claimOf = async ({ nftId, secret }: Held) =>
  (await ask('POST', `/claim/v1/api/claims/${nftId}/state`, { secret })).body;
