import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { open, overhang, phone, type Visit, visit } from './browser.ts';
import { contract } from './sample-world.ts';
import { tools } from './tools.ts';

describe.skipIf(tools.chromium === undefined).each(contract)(
  'the page of Redoc for $area',
  ({ area, title, operations }) => {
    let tab: Visit;
    beforeAll(async () => {
      tab = await open();
    });
    afterAll(() => tab.page.context().close());

    test('is reached from the start page and from the reference, and leads back', async () => {
      const { page } = tab;
      await visit(page, '');
      await page.getByRole('link', { name: `${title} in Redoc` }).click();
      await page.getByRole('link', { name: 'The reference of the portal' }).click();
      expect(page.url()).toBe(`${inject('live').baseUrl}/docs/${area}.html`);
      await page.getByRole('link', { name: 'Redoc', exact: true }).click();
      await page.getByRole('heading', { level: 1 }).filter({ hasText: title }).waitFor();
    });

    // Redoc renders an operation when its place comes into view.
    test('shows every operation at the address that it has in the reference', async () => {
      const { page } = tab;
      await visit(page, `redoc/${area}.html`);
      await page.getByRole('heading', { level: 1 }).filter({ hasText: title }).waitFor();
      for (const { href, summary, path } of operations) {
        await visit(page, `redoc/${href}`);
        const place = page.locator(`[data-section-id="${href.slice(href.indexOf('#') + 1)}"]`);
        await place.getByRole('heading', { name: summary }).waitFor();
        await place.getByText(path, { exact: true }).first().waitFor();
      }
    });

    test('is no wider than a phone, without an error or a request to others', async () => {
      const { page, complaints } = tab;
      await page.setViewportSize(phone.viewport);
      await visit(page, `redoc/${area}.html`);
      await page.reload();
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      expect(await overhang(page)).toBe(0);
      expect(await page.locator('img').count()).toBe(0);
      // A library in Redoc asks whether it may evaluate texts. It may not, and goes on.
      expect(complaints.filter((each) => each !== 'policy: script-src eval')).toEqual([]);
    });
  },
);
