import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { findOperation } from '../../../scripts/docs/contract.ts';
import { readSynonyms } from '../../../scripts/docs/search-index.ts';
import {
  closeSearch,
  type Found,
  faultsOf,
  open,
  phone,
  search,
  searchAll,
  type Visit,
  visit,
} from './browser.ts';
import { contract } from './sample-world.ts';
import { tools } from './tools.ts';

const groups = new URL('../../../openapi/portal/synonyms.yaml', import.meta.url);
const to = (operationId: string) => findOperation(contract, operationId).href;

/** What is found, best first; the search is closed again. */
async function searchOnce(page: Page, text: string): Promise<Found[]> {
  const found = await search(page, text);
  await closeSearch(page);
  return found;
}

describe.skipIf(tools.chromium === undefined)('the search', () => {
  let tab: Visit;
  beforeAll(async () => {
    tab = await open();
    await visit(tab.page, 'index.html');
  });
  const first = async (text: string, count = 3) =>
    (await searchOnce(tab.page, text)).slice(0, count).map(({ href }) => href);

  test.each([
    ['issue nft', 'createRwaNfts'],
    ['create', 'createRwa'],
    ['how do i create an event', 'createEvent'],
    ['add guest', 'addAttendee'],
    ['edit event', 'updateEvent'],
    ['fetch balance', 'getTokenBalance'],
    ['cancel event', 'deleteEvent'],
    ['transactions of a wallet', 'getWalletHistory'],
  ])('knows what is meant by %s', async (text, operationId) => {
    expect(await first(text)).toContain(to(operationId));
  });

  test.each([
    ['webhook', /^webhooks\.html/],
    ['login', /^authentication\.html/],
    ['throttling', /^limits\.html/],
    ['swagger', /^clients\.html/],
    ['pagination', /^paging\.html/],
    ['cors', /^what-it-does-not-do\.html#/],
    ['base url', /^what-it-does-not-do\.html#/],
    ['supported networks', /^(what-it-does-not-do\.html#|blockchain\.html#\/networks\/listnetworks)/],
    ['timezone', /^what-it-does-not-do\.html#/],
    ['refund', /^what-it-does-not-do\.html#/],
    ['who pays gas', /^what-it-does-not-do\.html#/],
    ['treasury', /^what-it-does-not-do\.html#/],
    ['personal data', /^what-it-does-not-do\.html#/],
    ['source address', /^what-it-does-not-do\.html#/],
  ])('leads from %s to the guide about it', async (text, page) => {
    expect(await first(text)).toContainEqual(expect.stringMatching(page));
  });

  test.each([
    ['change a signer', /^operate\/upgrade-backup-restore\.html#rotate-keys$/],
    ['finality_unknown', /^operate\/stuck-mints\.html/],
    ['RPC_TIMEOUT_MS', /^operate\/configuration\.html#row-rpc_timeout_ms$/],
    ['tallystick_mint_unexplained', /^operate\/metrics\.html#row-tallystick_mint_unexplained$/],
    ['restore a backup', /^operate\/upgrade-backup-restore\.html/],
    ['semaphore', /^internals\/decisions\/012-one-semaphore\.html$/],
    ['add a filter', /^internals\/contributing\/filter\.html/],
  ])('leads from %s to the documentation about it', async (text, page) => {
    expect(await first(text)).toContainEqual(expect.stringMatching(page));
  });

  test.each([
    ['idempotncy', /^idempotency\.html$/],
    ['idempotenncy', /^idempotency\.html$/],
    ['idempotebcy', /^idempotency\.html$/],
    ['ballance', /tokens?\/gettokenbalance$|gettokenbalance$/],
    ['atendee', /attendee/],
    ['event_ful', /^problems\/event_full\.html$/],
  ])('reads %s as what it is a letter away from', async (text, page) => {
    expect(await first(text)).toContainEqual(expect.stringMatching(page));
  });

  test.each([
    ['mint', 'mintNft'],
    ['balance', 'getTokenBalance'],
    ['network', 'listNetworks'],
  ])('leads from %s to an operation before any error', async (text, operationId) => {
    expect((await first(text))[0]).toBe(to(operationId));
  });

  test.each([
    ['mint_quota_exceeded', /^problems\/mint_quota_exceeded\.html$/],
    ['quota exceeded', /^problems\/mint_quota_exceeded\.html$/],
    ['already minted', /^problems\/nft_already_minted\.html$/],
  ])('leads from %s to the error that it is about', async (text, page) => {
    expect((await first(text))[0]).toMatch(page);
  });

  test('puts what is gone last, says so, and finds it first by its own name', async () => {
    const { page } = tab;
    for (const text of ['claim', 'nft claim', 'secret']) {
      const found = await searchOnce(page, text);
      const kinds = found.map(({ gone }) => gone);
      expect([text, kinds]).toEqual([text, kinds.toSorted((a, b) => Number(a) - Number(b))]);
    }
    const old = await searchOnce(page, 'use two operations claim gone');
    expect(old.some(({ gone }) => gone)).toBe(true);
    expect(await searchOnce(page, 'claimNft')).toContainEqual({ href: to('claimNft'), gone: true });
    expect((await searchOnce(page, 'claimNft'))[0]?.href).toBe(to('claimNft'));
  });

  test('finds something by every word that it knows another for', async () => {
    const { page } = tab;
    const words = readSynonyms(await readFile(groups, 'utf8')).flat();
    const all = await searchAll(page, words);
    expect(words.filter((_, index) => all[index]?.length === 0)).toEqual([]);
    expect(await searchOnce(page, 'qqqqzzzz')).toEqual([]);
    expect(tab.complaints).toEqual([]);
  });

  test('is free of faults of access, in dark on a phone', async () => {
    const { page } = await open(phone);
    await visit(page, 'limits.html');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('dialog.search input').fill('mint');
    await page.locator('dialog.search a').first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.context().close();
  });
});
