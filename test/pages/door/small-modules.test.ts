import { describe, expect, test } from 'vitest';
import { pageModule } from '../page-modules.ts';
import { eventId, type Scan, type SentScan, ticketOf } from './door-modules.ts';

type DoorLink = { key?: string; eventId?: string; gate: string; kind: string };
const { readLink, writeLink, gateOf } = (await pageModule('door/link.js')) as {
  readLink(hash: string): DoorLink;
  writeLink(link: DoorLink): string;
  gateOf(typed: string): string;
};
const key = 'tk_live_Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78';

describe('the link of a door', () => {
  test('has key, event and gate, and is written as it is read', () => {
    const link = { key, eventId, gate: 'North & South', kind: 'exit' };
    expect(readLink(writeLink(link))).toEqual(link);
    expect(readLink(`#k=${key}&e=${eventId}`)).toEqual({ key, eventId, gate: '', kind: 'entry' });
    expect(readLink(writeLink({ key: 'a+b/c=&d', eventId, gate: '', kind: 'entry' })).key).toBe('a+b/c=&d');
  });

  test.each([
    `#k=${key}&e=${eventId}.`,
    `#k=${key}&e=${eventId})`,
    `#k=${key}&e=%20${eventId.toUpperCase()}`,
    `#k=${key.slice(0, 9)}%0A${key.slice(9)}&e=${eventId.slice(0, 5)}%E2%80%8B${eventId.slice(5)}`,
  ])('survives what messengers do to it: %s', (hash) => {
    expect(readLink(hash)).toMatchObject({ key, eventId });
  });

  test.each(['', '#', '#k=', `#k=${key}`, `#e=${eventId}`, `#k=${key}&e=cut-short`, '#%', `#${key}`])(
    'without key or event opens nothing: %s',
    (hash) => {
      const link = readLink(hash);
      expect([link.key, link.eventId]).toEqual([undefined, undefined]);
    },
  );

  test('keeps a gate within what the service accepts', () => {
    expect(gateOf(`  North\u0000\n gate `)).toBe('North   gate');
    expect(gateOf('🚪'.repeat(70))).toBe('🚪'.repeat(64));
    expect(gateOf('   ')).toBe('');
    for (const each of ['\u200b', ' \u200b\ufeff\u2060 ', '\u3164']) expect(gateOf(each)).toBe('');
    expect(gateOf(`${'\u200b'.repeat(70)}North gate\u200b`)).toBe('North gate');
  });
});

const { createSight } = (await pageModule('door/sight.js')) as {
  createSight(): { see(code: string, now: number, isJudging?: boolean): boolean; calm(now: number): void };
};

describe('a code in front of the camera', () => {
  test('is judged once while it is in sight, and again when it comes back', () => {
    const { see } = createSight();
    const times = [0, 100, 1_500, 3_000, 5_000];
    expect(times.map((now) => see('a', now))).toEqual([true, false, false, false, false]);
    expect(see('a', 8_001)).toBe(true);
  });

  test('is not judged again because its answer took long', () => {
    const { see, calm } = createSight();
    expect(see('a', 0)).toBe(true);
    for (let now = 100; now < 9_000; now += 100) expect(see('a', now, true)).toBe(false);
    calm(9_000);
    expect([see('a', 9_100), see('a', 11_000)]).toEqual([false, false]);
  });

  test('does not push away the result of the code before it at once', () => {
    const { see, calm } = createSight();
    expect([see('a', 0), see('b', 500, true)]).toEqual([true, false]);
    calm(1_000);
    expect([see('b', 1_100), see('b', 2_100), see('b', 2_300)]).toEqual([false, false, true]);
    expect(see('a', 2_600)).toBe(true);
  });
});

const { sentForm, scansAsCsv, scansAsJson } = (await pageModule('door/scan-form.js')) as {
  sentForm(scan: Scan): SentScan;
  scansAsCsv(scans: readonly Scan[]): string;
  scansAsJson(scans: readonly Scan[]): string;
};
const at = '2027-05-04T09:00:00.000Z';
const scanId = '0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55';
const waiting = { scanId, eventId, kind: 'entry', at, gate: '', attendeeId: 'user-7421', waits: 1 } as const;

describe('a scan', () => {
  test('is sent with what it is about, and with nothing that only the phone needs', () => {
    expect(sentForm({ ...waiting, ticket: 'a.b.c', label: 'Ada' })).toEqual({
      scanId,
      kind: 'entry',
      at,
      ticket: 'a.b.c',
    });
    expect(sentForm({ ...waiting, gate: 'North', typed: 'user-1' })).toEqual({
      scanId,
      kind: 'entry',
      at,
      gate: 'North',
      attendeeId: 'user-1',
    });
    const undo = { ...waiting, kind: 'undo', undoes: scanId } as const;
    expect(sentForm(undo)).toEqual({ scanId, kind: 'undo', at, undoes: scanId });
  });

  test('in a table is text, also for a spreadsheet', () => {
    const csv = scansAsCsv([{ ...waiting, gate: '=1+1,"x"', typed: '@a' }]);
    expect(csv).toBe(
      `eventId,scanId,kind,at,gate,ticket,attendeeId,undoes,refused\r\n${eventId},${scanId},entry,${at},"'=1+1,""x""",,'@a,,\r\n`,
    );
  });

  test('in a table has why the service refused it', () => {
    const csv = scansAsCsv([{ ...waiting, ticket: 'a.b.c', refused: 'at_out_of_range' }]);
    expect(csv.split('\r\n')[1]).toBe(`${eventId},${scanId},entry,${at},,a.b.c,,,at_out_of_range`);
  });

  test('in a file for programs is in a body that a check-in takes', () => {
    const other = '11111111-2222-4333-8444-555555555555';
    const scans = [...Array(201).fill(waiting), { ...waiting, eventId: other }];
    const parts = JSON.parse(scansAsJson(scans)) as { eventId: string; scans: SentScan[] }[];
    expect(parts.map((part) => [part.eventId, part.scans.length])).toEqual([
      [eventId, 200],
      [eventId, 1],
      [other, 1],
    ]);
    expect(parts[0]?.scans[0]).toEqual(sentForm(waiting));
  });
});

const ticketLink = (await pageModule('ticket/link.js')) as {
  readLink(hash: string): Record<string, unknown>;
};

describe('the link of a ticket', () => {
  test('has the ticket and what the guest reads of the event', async () => {
    const ticket = await ticketOf();
    const hash = `#${ticket}&name=Spring%20fair%20%26%20more&start=2027-05-04T09:00:00.000Z&place=Hall%203`;
    expect(ticketLink.readLink(hash)).toEqual({
      ticket,
      expiresAt: Date.parse('2027-09-21T00:00:00Z'),
      guest: undefined,
      name: 'Spring fair & more',
      start: '2027-05-04T09:00:00.000Z',
      end: undefined,
      place: 'Hall 3',
    });
    expect(ticketLink.readLink(`#${ticket}`)).toMatchObject({ ticket, name: undefined });
  });

  test('shows no nonsense of its parts', async () => {
    const ticket = await ticketOf();
    const link = ticketLink.readLink(`#${ticket}&name=${'x'.repeat(300)}&start=tomorrow&place=%20&=&x`);
    expect(link).toMatchObject({ name: `${'x'.repeat(200)}…`, start: undefined, place: undefined });
  });

  test.each(['', '#', '#x', '#a.b.c', '#%zz', `#${'a'.repeat(9_000)}`])(
    'without a ticket shows none: %.20s',
    (hash) => {
      expect(ticketLink.readLink(hash)).toEqual({});
    },
  );
});
