import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, expect, inject } from 'vitest';
import { createLogger } from '../../../../src/base/log.ts';
import { createDatabase } from '../../../../src/db/connection/connect.ts';
import { issueKey, revokeKey } from '../../../../src/keys/key-store.ts';
import { textsOf } from '../../../pages/page-modules.ts';
import { flags, openPage, phone } from '../browser.ts';
import { ask } from '../sample-world.ts';
import { tools } from '../tools.ts';
import { cameraScript, modulesOf, writeVideo } from './pictures.ts';
import { type FrontProxy, startProxy } from './proxy.ts';

export const texts = await textsOf('en', 'door');

const events = '/events/v1/api/event';

/** An event with guests, as an organiser makes it. */
export type Door = {
  readonly eventId: string;
  readonly key: string;
  readonly proxy: FrontProxy;
  /** The link that the organiser gives to the person at the door. */
  readonly link: string;
  /** Registers a guest. @returns the ticket */
  addGuest(attendeeId: string): Promise<string>;
  /** Withdraws the link. */
  withdraw(): Promise<void>;
  /** Makes another link of the same event. */
  nextLink(): Promise<string>;
};

async function withDatabase<T>(work: (db: ReturnType<typeof createDatabase>) => Promise<T>): Promise<T> {
  const db = createDatabase(inject('live').databaseUrl, {
    poolMax: 1,
    log: createLogger({ level: 'silent' }),
  });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

const issueDoorKey = () =>
  withDatabase(async (db) => {
    const { id: companyId } = await db('companies').where({ name: 'acme' }).first('id');
    const scopes = ['events:checkin'];
    return (await issueKey(db, 'local', { companyId, label: 'door', scopes })).key;
  });

export async function makeDoor(body: object = {}): Promise<Door> {
  const event = { name: 'Spring fair', endDate: new Date(Date.now() + 86_400_000).toISOString() };
  const { id: eventId } = (await ask('POST', events, { ...event, ...body })).body as { id: string };
  const proxy = await startProxy(inject('live').baseUrl);
  const key = await issueDoorKey();
  const linkOf = (of: string) => `${proxy.baseUrl}/door#k=${of}&e=${eventId}&gate=North`;
  return {
    eventId,
    key,
    proxy,
    link: linkOf(key),
    async addGuest(attendeeId) {
      const made = await ask('POST', `${events}/${eventId}/attendees`, { attendeeId });
      expect(made.status).toBe(201);
      return ticketOf(eventId, attendeeId);
    },
    withdraw: () => withDatabase(async (db) => void (await revokeKey(db, key))),
    nextLink: async () => linkOf(await issueDoorKey()),
  };
}

async function ticketOf(eventId: string, attendeeId: string): Promise<string> {
  const { body } = await ask('GET', `${events}/${eventId}/attendees/${attendeeId}/ticket`);
  return (body as { ticket: string }).ticket;
}

/** When a guest was admitted, as the organiser reads it; null for a guest outside. */
export async function admittedAt(eventId: string, attendeeId: string): Promise<string | null> {
  const { body } = await ask('GET', `${events}/${eventId}/attendees`);
  const found = (body as { attendeeId: string; checkedInAt: string | null }[]).find(
    (each) => each.attendeeId === attendeeId,
  );
  return found?.checkedInAt ?? null;
}

const launched: Browser[] = [];
afterAll(() => Promise.all(launched.map((browser) => browser.close())));

async function launch(more: readonly string[] = []): Promise<Browser> {
  const args = [...flags.split(' '), '--use-fake-ui-for-media-stream', ...more];
  const browser = await chromium.launch({ executablePath: tools.chromium ?? '', args });
  launched.push(browser);
  return browser;
}

/** A browser whose camera is a video of codes. */
export async function launchWithVideo(codes: readonly string[]): Promise<Browser> {
  const folder = await mkdtemp(path.join(tmpdir(), 'door-video-'));
  afterAll(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'codes.y4m');
  await writeVideo(file, codes);
  return launch(['--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${file}`]);
}

let usual: Promise<Browser> | undefined;

export type Visit = Awaited<ReturnType<typeof open>>;

/** An empty tab of a phone, in front of which codes are held by `hold`; or with the camera of a browser. */
export async function open({
  options = phone as BrowserContextOptions,
  script = '',
  browser = undefined as Browser | undefined,
} = {}) {
  usual ??= browser === undefined ? launch() : undefined;
  const chosen = browser ?? (await (usual as Promise<Browser>)); // made above
  const { page, complaints } = await openPage(chosen, options);
  await page.context().grantPermissions(['camera', 'clipboard-read']);
  await page.addInitScript(
    `window.shakes = []; navigator.vibrate = (pattern) => window.shakes.push(pattern);`,
  );
  if (browser === undefined) await page.addInitScript(cameraScript);
  await page.addInitScript(laterScript);
  if (script !== '') await page.addInitScript(script);
  const context = page.context();
  return {
    page,
    complaints: () => complaints.filter((text) => !text.startsWith('asked http://localhost:')),
    /** Takes the code away, for longer than the page counts it as the same. */
    async takeAway() {
      await page.evaluate('hold([])');
      await expect.poll(() => page.evaluate(whiteVideo), patient).toBe(true);
      await page.evaluate('later += 5_000');
    },
    hold: (text: string) => page.evaluate(`hold(${JSON.stringify(text === '' ? [] : modulesOf(text))})`),
    close: () => context.close(),
  };
}

/** For what a browser does by itself, on a machine that is busy. */
export const patient = { timeout: 60_000 };

// The clock of a page that counts how long a code was out of sight.
const laterScript = `
  window.later = 0;
  const now = performance.now.bind(performance);
  performance.now = () => now() + window.later;`;

const whiteVideo = `(() => {
  const picture = document.createElement('canvas').getContext('2d');
  picture.drawImage(document.getElementById('video'), 0, 0);
  return picture.getImageData(100, 100, 40, 40).data.every((value) => value > 200);
})()`;

/** Opens a link and starts the camera. */
export async function startAt(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Start the camera' }).click();
  await page.locator('#video').waitFor();
}

/** Waits for a result. */
export const result = (page: Page, headline: string) =>
  page.locator('#result-headline').filter({ hasText: headline }).waitFor();

/** Waits until the page says how many scans wait and whether it is connected. */
export const state = (page: Page, words: string) =>
  page.locator('#state').filter({ hasText: words }).waitFor();

/** Waits until the page opens without a network. */
export const kept = (page: Page) => page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
