import { randomBytes } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { createTickets } from '../../../src/events/checkin/tickets.ts';
import { pageModule } from '../page-modules.ts';
import { eventId, type Scan, type SentScan, ticketOf, tickets } from './door-modules.ts';
import { createMemoryStore, type MemoryStore } from './memory-store.ts';

type Result = {
  readonly status: string;
  readonly reason?: string;
  readonly scan?: Scan;
  readonly first?: { readonly at: string; readonly gate: string | null };
  readonly isSent?: boolean;
};
type State = {
  readonly isReached?: boolean;
  readonly refusal?: string;
  readonly waiting: number;
  readonly refused?: number;
};
type Door = {
  open(): Promise<boolean>;
  refresh(): Promise<boolean>;
  scan(text: string, how: { kind: string; gate: string; isTyped?: boolean }): Promise<Result>;
  undo(scan: Scan): Promise<void>;
  send(): Promise<void>;
};
const { createDoor } = (await pageModule('door/door.js')) as { createDoor(parts: object): Door };
const { resultOf } = (await pageModule('door/result.js')) as { resultOf(scan: Scan): Result };

const clock = Date.parse('2027-05-04T09:00:00Z');

/** A service with one event. It answers while `isThere`, and says what it was sent. */
function createService() {
  const requests: SentScan[][] = [];
  const service = {
    requests,
    isThere: true,
    code: undefined as string | undefined,
    keys: tickets.publicKeys as readonly object[],
    revoked: [] as string[],
    skewMs: 0,
    clockSkew: null as number | null,
    onCheckIn: () => {},
    answers: new Map<string, object>(),
  };
  const reply = <T>(body: T) => {
    if (!service.isThere) return { code: 'unreachable' };
    return service.code === undefined ? { body } : { code: service.code };
  };
  const api = {
    readDoor: async () =>
      reply({
        eventId,
        name: 'Spring fair',
        acceptsIds: true,
        keys: service.keys,
        now: new Date(clock - service.skewMs).toISOString(),
      }),
    readRevoked: async (after: string) => {
      const from = Number(after || 0);
      const page = service.revoked.slice(from, from + 2).map((ticketId) => ({ ticketId }));
      const cursor = String(from + page.length);
      return reply({ tickets: page, cursor, hasMore: from + page.length < service.revoked.length });
    },
    checkIn: async (scans: SentScan[]) => {
      requests.push(scans);
      service.onCheckIn();
      const items = scans.map(({ scanId, kind, at }) => ({
        scanId,
        attendeeId: 'user-7421',
        by: 'ticket',
        status: kind === 'undo' ? 'undone' : 'admitted',
        checkedInAt: at,
        checkedInGate: 'North',
        label: 'Ada',
        inside: true,
        ...service.answers.get(kind),
      }));
      return reply({ items, clockSkew: service.clockSkew });
    },
  };
  return { service, api };
}

async function setUp({ store = createMemoryStore(), keyDigest = 'one' } = {}) {
  const { service, api } = createService();
  const phone = { now: clock };
  const states: State[] = [];
  const corrected: Scan[] = [];
  const door = createDoor({
    eventId,
    keyDigest,
    store,
    api,
    now: () => phone.now,
    onState: (state: State) => states.push(state),
    onCorrected: (scan: Scan) => corrected.push(scan),
  });
  const state = () => states.at(-1);
  const enter = (text: string, isTyped = false) => door.scan(text, { kind: 'entry', gate: 'North', isTyped });
  return { door, service, store, phone, state, corrected, enter };
}

async function opened(more: { store?: MemoryStore; keyDigest?: string } = {}) {
  const made = await setUp(more);
  await made.door.open();
  await made.door.refresh();
  return made;
}

describe('a door with a connection', () => {
  test('says what the service says, which knows other phones', async () => {
    const { enter, service, state } = await opened();
    const elsewhere = {
      status: 'already_admitted',
      checkedInAt: '2027-05-04T08:00:00.000Z',
      checkedInGate: 'South',
    };
    service.answers.set('entry', elsewhere);
    expect(await enter(await ticketOf())).toMatchObject({
      status: 'already_admitted',
      first: { at: elsewhere.checkedInAt, gate: 'South' },
      isSent: true,
      scan: { attendeeId: 'user-7421', label: 'Ada' },
    });
    expect(state()).toMatchObject({ isReached: true, waiting: 0 });
  });

  test('sends no code that is no ticket, and forgets tickets that were answered', async () => {
    const { enter, service, store } = await opened();
    for (const text of ['<b>x</b>', 'x'.repeat(10_000), 'https://evil.example/#a.b.c', 'user-7421']) {
      expect(await enter(text)).toEqual({ status: 'unknown', reason: 'notTicket' });
    }
    expect(await enter('x'.repeat(10_000), true)).toEqual({ status: 'unknown', reason: 'notTicket' });
    expect([service.requests, store.scans.size]).toEqual([[], 0]);
    await enter(await ticketOf());
    expect([...store.scans.values()].map(({ ticket, waits }) => [ticket, waits])).toEqual([
      [undefined, undefined],
    ]);
  });

  test('says at once that the service does not accept a scan, and sends it no more', async () => {
    const { enter, service, state } = await opened();
    service.code = 'input_invalid';
    expect((await enter('\u0000', true)).status).toBe('rejected');
    expect(state()).toMatchObject({ waiting: 0 });
    expect(service.requests).toHaveLength(1);
  });

  test('shows the label that the service gave before', async () => {
    const { door, enter, service } = await opened();
    await enter(await ticketOf());
    service.isThere = false;
    await door.refresh();
    expect((await enter(await ticketOf())).scan).toMatchObject({ label: 'Ada' });
  });

  test('reads the keys again where it does not know a signer', async () => {
    const { enter, service } = await opened();
    const next = createTickets(new Map([['two', randomBytes(32)]]));
    const ticket = await ticketOf({}, next);
    expect(await enter(ticket)).toEqual({ status: 'unknown', reason: 'unknownSigner' });
    service.keys = next.publicKeys;
    expect((await enter(ticket)).status).toBe('admitted');
  });

  test('gives scans the time of the service, whatever the clock of the phone says', async () => {
    const { door, enter, service } = await opened();
    service.skewMs = 3_600_000;
    await door.refresh();
    await enter(await ticketOf());
    expect(service.requests[0]?.[0]?.at).toBe('2027-05-04T08:00:00.000Z');
  });

  test('takes a scan back by an undo', async () => {
    const { door, enter, service, store } = await opened();
    const { scan } = await enter(await ticketOf());
    await door.undo(scan as Scan);
    await vi.waitFor(() => expect(service.requests).toHaveLength(2));
    const [undo] = service.requests[1] ?? [];
    expect(undo).toMatchObject({ kind: 'undo', undoes: scan?.scanId });
    expect(undo).not.toHaveProperty('ticket');
    await vi.waitFor(async () => expect(await store.countWaiting(eventId)).toBe(0));
  });
});

describe('a door without a connection', () => {
  async function offline() {
    const made = await opened();
    made.service.revoked = ['3', '4', '5'];
    await made.door.refresh();
    made.service.isThere = false;
    await made.door.refresh();
    return made;
  }

  test('admits each ticket once, keeps the scans, and sends them with the same ids', async () => {
    const { door, enter, service, store, state, corrected } = await offline();
    const ticket = await ticketOf();
    const first = await enter(ticket);
    expect(first).toMatchObject({ status: 'admitted', isSent: false });
    const again = await enter(ticket);
    expect(again).toMatchObject({ status: 'already_admitted', first: { at: first.scan?.at, gate: 'North' } });
    expect(await enter(await ticketOf({ attendeeId: 'user-8', ticketId: '4' }))).toMatchObject({
      reason: 'revoked',
    });
    expect(state()).toMatchObject({ isReached: false, waiting: 2 });
    const ids = [...store.scans.keys()];
    service.isThere = true;
    await door.send();
    expect(
      service.requests
        .at(-1)
        ?.map(({ scanId }) => scanId)
        .sort(),
    ).toEqual(ids.sort());
    // The service of this test admits by each scan, so the second one was not what the page had shown.
    expect([state()?.waiting, corrected.map(({ scanId }) => scanId)]).toEqual([0, [again.scan?.scanId]]);
  });

  test('opens again with all that it had', async () => {
    const { enter, store } = await offline();
    const ticket = await ticketOf();
    await enter(ticket);
    const later = await setUp({ store });
    later.service.isThere = false;
    expect(await later.door.open()).toBe(true);
    expect(later.state()).toMatchObject({ waiting: 1 });
    expect((await later.enter(ticket)).status).toBe('already_admitted');
    expect(await later.enter(await ticketOf({ ticketId: '5' }))).toMatchObject({ reason: 'revoked' });
  });

  test('admits again after an undo', async () => {
    const { door, enter } = await offline();
    const ticket = await ticketOf();
    const { scan } = await enter(ticket);
    await door.undo(scan as Scan);
    expect((await enter(ticket)).status).toBe('admitted');
  });

  test('says so when another phone admitted somebody before', async () => {
    const { door, enter, service, corrected } = await offline();
    await enter(await ticketOf());
    service.isThere = true;
    service.answers.set('entry', { status: 'already_admitted', checkedInAt: '2027-05-04T08:00:00.000Z' });
    await door.send();
    expect(corrected.map((scan) => resultOf(scan).status)).toEqual(['already_admitted']);
  });

  test('admits nobody by a user ID, and takes the scan back', async () => {
    const { enter, store } = await offline();
    expect(await enter('user-7421', true)).toMatchObject({ status: 'unverified' });
    const scans = [...store.scans.values()];
    expect(scans.map(({ kind, typed }) => [kind, typed])).toEqual([
      ['entry', 'user-7421'],
      ['undo', undefined],
    ]);
    expect(scans[1]?.undoes).toBe(scans[0]?.scanId);
  });

  test('takes back what nobody saw the answer of, since the page was closed', async () => {
    const { store } = await offline();
    const scan = {
      scanId: 'lost',
      eventId,
      kind: 'entry',
      at: '2027-05-04T08:00:00.000Z',
      gate: '',
    } as const;
    store.scans.set('lost', {
      ...scan,
      attendeeId: 'user-1',
      typed: 'user-1',
      waits: 1,
      isProvisional: true,
    });
    const later = await setUp({ store });
    later.service.isThere = false;
    await later.door.open();
    await later.door.open();
    expect([...store.scans.values()].filter(({ undoes }) => undoes === 'lost')).toHaveLength(1);
  });
});

describe('a phone whose clock changes', () => {
  const dayMs = 86_400_000;

  async function offline() {
    const made = await opened();
    made.service.isThere = false;
    await made.door.refresh();
    return made;
  }

  test('admits nobody without a connection by an earlier clock, also when the page is opened again', async () => {
    const { enter, phone, store } = await offline();
    const ticket = await ticketOf();
    const expired = await ticketOf({ expiresAt: new Date(clock - 1_000) });
    expect(await enter(expired)).toMatchObject({ reason: 'expired' });
    phone.now = clock - 59_000;
    expect((await enter(ticket)).status).toBe('admitted');
    phone.now = clock - 61_000;
    const { size } = store.scans;
    for (const each of [ticket, expired]) expect(await enter(each)).toEqual({ status: 'clock_wrong' });

    const later = await setUp({ store });
    later.service.isThere = false;
    later.phone.now = 0;
    await later.door.open();
    for (const each of [ticket, expired]) expect(await later.enter(each)).toEqual({ status: 'clock_wrong' });
    expect(store.scans.size).toBe(size);
    // Else the event would be forgotten when the clock is right again.
    expect((await store.readEvent(eventId))?.openedAt).toBe(clock);
  });

  test('remembers the time of its last scan', async () => {
    const { enter, phone } = await offline();
    phone.now = clock + dayMs;
    expect((await enter(await ticketOf())).status).toBe('admitted');
    phone.now = clock;
    const ofToday = await ticketOf({ attendeeId: 'user-8', expiresAt: new Date(clock + dayMs / 2) });
    expect(await enter(ofToday)).toEqual({ status: 'clock_wrong' });
  });

  test('takes a scan back at a time that the service accepts', async () => {
    const { door, enter, phone, store } = await offline();
    const scan = (await enter(await ticketOf())).scan as Scan;
    phone.now = 0;
    await door.undo(scan);
    expect([...store.scans.values()].map(({ kind, at }) => [kind, at])).toEqual([
      ['entry', scan.at],
      ['undo', scan.at],
    ]);
  });

  test('goes on by the time of the service', async () => {
    const { store } = await offline();
    const later = await setUp({ store });
    later.phone.now = 0;
    later.service.skewMs = -dayMs;
    await later.door.open();
    expect((await later.enter(await ticketOf())).status).toBe('admitted');
    expect(later.service.requests[0]?.[0]?.at).toBe('2027-05-05T09:00:00.000Z');
  });

  test.each([
    ['a fast answer', 1_000, '2027-05-04T09:00:00.000Z'],
    ['no slow answer', 40_000, '2027-05-04T09:00:40.000Z'],
  ])('learns the skew of its clock from %s', async (_, tookMs, at) => {
    const { enter, phone, service } = await opened();
    service.onCheckIn = () => {
      phone.now += tookMs;
    };
    service.clockSkew = 40;
    await enter(await ticketOf());
    phone.now = clock + 40_000;
    service.clockSkew = null;
    const { scan } = await enter(await ticketOf({ attendeeId: 'user-8' }));
    expect(scan?.at).toBe(at);
  });
});

describe('a scan that the service refuses for good', () => {
  const refusals = ['at_out_of_range', 'too_many_scans', 'scan_id_reused', 'undo_of_undo'];

  test.each(refusals)('is kept with its ticket after %s, and counted', async (status) => {
    const { enter, service, store, state } = await opened();
    service.answers.set('entry', { status, checkedInAt: null, checkedInGate: null, inside: null });
    const ticket = await ticketOf();
    expect((await enter(ticket)).status).toBe('rejected');
    expect([...store.scans.values()]).toEqual([expect.objectContaining({ ticket, refused: status })]);
    expect(state()).toMatchObject({ waiting: 0, refused: 1 });
    const later = await setUp({ store });
    await later.door.open();
    expect(later.state()).toMatchObject({ waiting: 0, refused: 1 });
  });

  test('is kept where the service accepts no part of it', async () => {
    const { enter, service, store, state } = await opened();
    service.code = 'input_invalid';
    const ticket = await ticketOf();
    expect((await enter(ticket)).status).toBe('rejected');
    expect([...store.scans.values()]).toEqual([
      expect.objectContaining({ ticket, refused: 'input_invalid' }),
    ]);
    expect(state()).toMatchObject({ waiting: 0, refused: 1 });
  });

  test.each(['at_out_of_range', 'input_invalid'])(
    'is told where it takes another one back: %s',
    async (refusal) => {
      const { door, enter, service, store, state, corrected } = await opened();
      const ticket = await ticketOf();
      const scan = (await enter(ticket)).scan as Scan;
      if (refusal === 'input_invalid') service.code = refusal;
      else service.answers.set('undo', { status: refusal });
      await door.undo(scan);
      await expect
        .poll(() => corrected.map((each) => [resultOf(each).status, each.undoes]))
        .toEqual([['not_undone', scan.scanId]]);
      expect(store.scans.get(scan.scanId)?.isUndone).toBeUndefined();
      expect(state()).toMatchObject({ waiting: 0, refused: 1 });
      service.code = 'unreachable';
      expect((await enter(ticket)).status).toBe('already_admitted');
    },
  );

  test('is not told as an undo without effect where the scan itself was refused', async () => {
    const { door, enter, service, corrected, state } = await opened();
    service.isThere = false;
    await door.refresh();
    const scan = (await enter(await ticketOf())).scan as Scan;
    await door.undo(scan);
    service.isThere = true;
    for (const kind of ['entry', 'undo']) service.answers.set(kind, { status: 'at_out_of_range' });
    await expect
      .poll(async () => {
        await door.send();
        return state();
      })
      .toMatchObject({ waiting: 0, refused: 2 });
    expect(corrected).toEqual([]);
  });
});

describe('a door whose key was revoked', () => {
  test('says so, sends nothing, and keeps what waits, also when it is opened again', async () => {
    const { door, enter, service, store, state } = await opened();
    service.isThere = false;
    await door.refresh();
    await enter(await ticketOf());
    service.isThere = true;
    service.code = 'api_key_invalid';
    await door.send();
    expect(state()).toMatchObject({ refusal: 'api_key_invalid', waiting: 1 });
    const { length } = service.requests;
    await door.send();
    expect(service.requests.length).toBe(length);

    const again = await setUp({ store });
    again.service.isThere = false;
    await again.door.open();
    expect(again.state()).toMatchObject({ refusal: 'api_key_invalid', waiting: 1 });
    await again.door.send();
    expect(again.service.requests).toEqual([]);
  });

  test('is not what a process of an earlier release says during an upgrade', async () => {
    const { door, service, state } = await opened();
    service.code = 'insufficient_scope';
    await door.refresh();
    expect(state()).toMatchObject({ isReached: false, refusal: undefined });
  });

  test('sends what waits by the next link', async () => {
    const { door, enter, service, store } = await opened();
    service.isThere = false;
    await door.refresh();
    await enter(await ticketOf());
    service.isThere = true;
    service.code = 'api_key_invalid';
    await door.refresh();
    const next = await opened({ store, keyDigest: 'two' });
    await next.door.send();
    expect([next.service.requests.length, next.state()]).toEqual([
      1,
      expect.objectContaining({ waiting: 0 }),
    ]);
  });
});
