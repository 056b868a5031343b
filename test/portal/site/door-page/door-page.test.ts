import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { faultsOf, overhang } from '../browser.ts';
import { ask } from '../sample-world.ts';
import { tools } from '../tools.ts';
import {
  admittedAt,
  type Door,
  kept,
  launchWithVideo,
  makeDoor,
  open,
  patient,
  result,
  startAt,
  state,
  texts,
  type Visit,
} from './door-page.ts';

const accessible = async ({ page }: Visit) =>
  expect([await faultsOf(page), await overhang(page)]).toEqual([[], 0]);

/** What the service answers to the key of a link now. */
const readDoorStatus = async ({ proxy, eventId, key }: Door) =>
  (await fetch(`${proxy.baseUrl}/events/v1/api/event/${eventId}/door`, { headers: { 'x-api-key': key } }))
    .status;

describe.skipIf(tools.chromium === undefined)('a person at the door', () => {
  let door: Door;
  beforeEach(async () => {
    door = await makeDoor();
    onTestFinished(() => door.proxy.close());
  });

  /** A phone at the door, whose camera runs. */
  async function atDoor(more: Parameters<typeof open>[0] = {}): Promise<Visit> {
    const visit = await open(more);
    await startAt(visit.page, door.link);
    await kept(visit.page);
    return visit;
  }

  test('scans a ticket with the camera, reads who was admitted, and takes it back by one tap', async () => {
    const ticket = await door.addGuest('user-1');
    const visit = await open({ browser: await launchWithVideo([ticket, '']) });
    const { page, complaints, close } = visit;
    await page.goto(door.link);
    await page.getByRole('heading', { level: 1, name: 'Spring fair' }).waitFor();
    await accessible(visit);
    await page.getByRole('button', { name: 'Start the camera' }).click();
    await result(page, 'Admitted');
    expect(await page.locator('#result').getAttribute('data-mood')).toBe('good');
    expect(await page.locator('#result-who').textContent()).toBe('user-1');
    expect(await page.evaluate('shakes')).toEqual([[80]]);
    await state(page, 'Connected. Everything was sent.');
    await expect.poll(() => admittedAt(door.eventId, 'user-1'), patient).not.toBeNull();
    await accessible(visit);
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await result(page, 'Taken back');
    await expect.poll(() => admittedAt(door.eventId, 'user-1'), patient).toBeNull();
    await accessible(visit);
    expect(complaints()).toEqual([]);
    await close();
  });

  test('scans three tickets without a connection, closes the page, and the organiser sees the right counts', async () => {
    const [first, second, gone] = [
      await door.addGuest('user-1'),
      await door.addGuest('user-2'),
      await door.addGuest('user-3'),
    ];
    await ask('DELETE', `/events/v1/api/event/${door.eventId}/attendees/user-3`);
    const visit = await atDoor();
    const { page, hold, takeAway, complaints, close } = visit;
    await state(page, 'Connected.');
    await page.context().setOffline(true);
    await hold(first);
    await result(page, 'Admitted');
    await page.getByText(texts['notSent'] ?? '').waitFor();
    await hold(second);
    await expect.poll(() => page.locator('#result-who').textContent(), patient).toBe('user-2');
    // A copy of the first ticket, and a ticket of somebody who was removed.
    await takeAway();
    await hold(first);
    await result(page, 'Already admitted');
    expect(await page.locator('#result-message').textContent()).toMatch(
      /^First entry: .+, at the gate North\.$/,
    );
    await hold(gone);
    await result(page, 'Not valid');
    await page.getByText(texts['reasonRevoked'] ?? '').waitFor();
    await state(page, 'No connection. Scanning goes on. 3 scans wait');
    await accessible(visit);

    // The page is closed and opened again, still without a network.
    await page.close();
    const later = await page.context().newPage();
    await later.goto(door.link);
    await state(later, '3 scans wait');
    await later.getByRole('heading', { level: 1, name: 'Spring fair' }).waitFor();
    expect(await admittedAt(door.eventId, 'user-1')).toBeNull();
    await page.context().setOffline(false);
    await state(later, 'Connected. Everything was sent.');
    await expect.poll(() => later.locator('#scans').textContent(), patient).not.toContain('not sent yet');
    expect(await admittedAt(door.eventId, 'user-1')).not.toBeNull();
    expect(await admittedAt(door.eventId, 'user-2')).not.toBeNull();
    const sent = door.proxy.checkIns.flatMap(
      (body) => JSON.parse(body).scans as { scanId: string; gate: string }[],
    );
    expect(new Set(sent.map(({ scanId }) => scanId)).size).toBe(3);
    expect(new Set(sent.map(({ gate }) => gate))).toEqual(new Set(['North']));
    expect(complaints().filter((text) => !/ERR_INTERNET_DISCONNECTED/.test(text))).toEqual([]);
    await close();
  });

  test('reads at which gate and when another phone admitted the guest', async () => {
    const ticket = await door.addGuest('user-1');
    const one = await atDoor();
    await one.page.getByLabel('Gate').fill('South');
    await one.page.getByLabel('Gate').press('Tab');
    await one.hold(ticket);
    await result(one.page, 'Admitted');
    const other = await atDoor();
    await other.hold(ticket);
    await result(other.page, 'Already admitted');
    expect(await other.page.locator('#result-message').textContent()).toMatch(/at the gate South\.$/);
    expect(await other.page.evaluate('shakes')).toEqual([[80, 80, 80]]);
    await accessible(other);
    // The gate stays over a reload.
    await one.page.reload();
    expect(await one.page.getByLabel('Gate').inputValue()).toBe('South');
    await Promise.all([one.close(), other.close()]);
  });

  test('notes exits, after which the guest may enter again', async () => {
    const ticket = await door.addGuest('user-1');
    const { page, hold, takeAway, close } = await atDoor();
    await hold(ticket);
    await result(page, 'Admitted');
    await page.getByText('Exit', { exact: true }).click();
    await takeAway();
    await hold(ticket);
    await result(page, 'Exit noted');
    await page.getByText('Entry', { exact: true }).click();
    await takeAway();
    await hold(ticket);
    await result(page, 'Admitted');
    await close();
  });

  test('is shown nothing of a hostile code but that it is not valid', async () => {
    const visit = await atDoor();
    const { page, hold, takeAway, complaints, close } = visit;
    const other = await makeDoor({ name: 'Another event' });
    onTestFinished(() => other.proxy.close());
    const ticket = await door.addGuest('user-1');
    const forged = `${ticket.slice(0, -10)}AAAAAAAAAA`;
    // Another spelling of the same bytes, as far as a decoder is lenient.
    const misspelt = `${ticket.slice(0, -1)}B`;
    const ofOther = await other.addGuest('user-1');
    // Each has another reason than the code before it.
    for (const [code, reason] of [
      ['<img src=x onerror="window.hacked=1">', 'reasonNotTicket'],
      [ofOther, 'reasonOtherEvent'],
      ['javascript:window.hacked=1', 'reasonNotTicket'],
      [forged, 'reasonForged'],
      [`https://evil.example/#${'x'.repeat(400)}`, 'reasonNotTicket'],
      [`https://evil.example/ticket#${ofOther}&name=x`, 'reasonOtherEvent'],
      [misspelt, 'reasonNotTicket'],
    ] as const) {
      await hold(code);
      await page
        .locator('#result-message')
        .filter({ hasText: texts[reason] ?? '' })
        .waitFor();
      expect(await page.locator('#result-headline').textContent()).toBe('Not valid');
      await takeAway();
    }
    // Some 10,000 characters, as a hand scanner would type them.
    await page.locator('#text').evaluate((input, text) => {
      (input as unknown as { value: string }).value = text;
    }, 'x'.repeat(10_000));
    await page.getByRole('button', { name: 'Check' }).click();
    await result(page, 'Not valid');
    expect(await page.evaluate('[window.hacked, document.querySelectorAll("#result img").length]')).toEqual([
      undefined,
      0,
    ]);
    expect(door.proxy.checkIns).toEqual([]);
    await accessible(visit);
    expect(complaints()).toEqual([]);
    await close();
  });

  test('reads that the link was withdrawn, sends nothing more, saves what waits, and goes on by the next link', async () => {
    const ticket = await door.addGuest('user-1');
    const visit = await atDoor();
    const { page, hold, close } = visit;
    await page.context().setOffline(true);
    await hold(ticket);
    await result(page, 'Admitted');
    await door.withdraw();
    // Each process knows of it within ten seconds.
    await expect.poll(() => readDoorStatus(door), patient).toBe(401);
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'This link was withdrawn' }).waitFor();
    await state(page, 'Nothing is sent. 1 scan waits');
    expect(await page.locator('#scanner').isVisible()).toBe(false);
    await accessible(visit);
    const sent = door.proxy.checkIns.length;
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save a file for programs' }).click(),
    ]);
    const [part] = JSON.parse(await readFile(await saved.path(), 'utf8'));
    expect(part).toMatchObject({ eventId: door.eventId, scans: [{ kind: 'entry', gate: 'North', ticket }] });
    await page.reload();
    await page.getByRole('heading', { name: 'This link was withdrawn' }).waitFor();
    expect([door.proxy.checkIns.length, await admittedAt(door.eventId, 'user-1')]).toEqual([sent, null]);

    await page.goto(await door.nextLink());
    await state(page, 'Connected. Everything was sent.');
    expect(await admittedAt(door.eventId, 'user-1')).not.toBeNull();
    await close();
  });

  test('reads what to do with a link that is not complete, and may save what waits', async () => {
    const ticket = await door.addGuest('user-1');
    const visit = await atDoor();
    const { page, hold, close } = visit;
    await page.context().setOffline(true);
    await hold(ticket);
    await result(page, 'Admitted');
    await page.goto(`${door.proxy.baseUrl}/door`);
    await page.reload();
    await page.getByRole('heading', { name: 'This link is not complete' }).waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save a table' }).click(),
    ]);
    expect(await readFile(await saved.path(), 'utf8')).toContain(`${door.eventId},`);
    await accessible(visit);
    await close();
  });

  test('leaves neither key nor ticket in what a server could log, and the phone does not store the key', async () => {
    const ticket = await door.addGuest('user-1');
    const { page, hold, close } = await atDoor();
    await hold(ticket);
    await result(page, 'Admitted');
    expect(door.proxy.logged.filter((line) => line.includes(door.key) || line.includes(ticket))).toEqual([]);
    const stored = await page.evaluate(`(async () => {
      const db = await new Promise((done) => { indexedDB.open('door').onsuccess = (event) => done(event.target.result); });
      const all = (name) => new Promise((done) => { db.transaction(name).objectStore(name).getAll().onsuccess = (event) => done(event.target.result); });
      return JSON.stringify([await all('events'), await all('scans'), Object.entries(localStorage), document.cookie]);
    })()`);
    expect(stored).not.toContain(door.key);
    expect(stored).toContain('user-1');
    // A ticket that was answered is not needed any more.
    expect(stored).not.toContain(ticket);
    await close();
  });
});
