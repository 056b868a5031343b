import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pageModule } from '../page-modules.ts';
import { eventId, type Scan, type SentScan } from './door-modules.ts';
import { createMemoryStore, type MemoryStore } from './memory-store.ts';

type Reply = {
  readonly body?: { readonly items: object[] };
  readonly code?: string;
  readonly retryAfter?: number;
};
type Parts = {
  readonly eventId: string;
  readonly store: MemoryStore;
  readonly checkIn: (scans: readonly SentScan[]) => Promise<Reply>;
  readonly maySend: () => boolean;
  readonly onAnswered: (scans: readonly Scan[], body: object) => Promise<void>;
  readonly onRejected: (scan: Scan, code: string) => Promise<void>;
  readonly onStopped: (answer: Reply) => void;
};
const { createSender } = (await pageModule('door/sender.js')) as {
  createSender(parts: Parts): () => Promise<void>;
};

const admitted = (scans: readonly SentScan[]): Reply => ({
  body: { items: scans.map(() => ({ status: 'admitted' })) },
});

/** A sender of scans that wait, to a service that answers as it is told. */
function setUp(count: number, reply: (scans: readonly SentScan[]) => Reply) {
  const store = createMemoryStore();
  for (let n = 0; n < count; n += 1) {
    const at = new Date(n * 1_000).toISOString();
    const scanId = `scan-${n}`;
    const scan = {
      scanId,
      eventId,
      kind: 'entry',
      at,
      gate: '',
      attendeeId: `user-${n}`,
      ticket: 't',
      waits: 1,
    };
    store.scans.set(scanId, scan as Scan);
  }
  const requests: string[][] = [];
  const stops: Reply[] = [];
  const parts = {
    eventId,
    store,
    checkIn: async (scans: readonly SentScan[]) => {
      requests.push(scans.map(({ scanId }) => scanId));
      return reply(scans);
    },
    maySend: () => true,
    onAnswered: async (scans: readonly Scan[]) => {
      await store.changeScans(scans.map(({ scanId }) => [scanId, { waits: undefined }]));
    },
    onRejected: async ({ scanId }: Scan, refused: string) => {
      await store.changeScans([[scanId, { waits: undefined, refused }]]);
    },
    onStopped: (answer: Reply) => {
      stops.push(answer);
    },
  };
  const waiting = async () => (await store.listWaiting(eventId)).map(({ scanId }) => scanId);
  return { parts, store, requests, stops, waiting };
}

describe('scans that wait', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('are sent newest first, in requests that the service takes', async () => {
    const { parts, requests, waiting } = setUp(230, admitted);
    await createSender(parts)();
    expect(requests.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(requests[0]?.[0]).toBe('scan-229');
    expect(await waiting()).toEqual([]);
  });

  test('are sent in smaller requests where tickets are long', async () => {
    const { parts, store, requests } = setUp(60, admitted);
    for (const [scanId, scan] of store.scans) store.scans.set(scanId, { ...scan, ticket: 'x'.repeat(2_000) });
    await createSender(parts)();
    expect(requests.flat()).toHaveLength(60);
    expect(Math.max(...requests.map(({ length }) => length * 2_000))).toBeLessThan(90_000);
  });

  test('go out again with the same ids until they are answered', async () => {
    let isThere = false;
    const { parts, requests, stops, waiting } = setUp(2, (scans) =>
      isThere ? admitted(scans) : { code: 'unreachable' },
    );
    await createSender(parts)();
    expect([stops, await waiting()]).toEqual([[{ code: 'unreachable' }], ['scan-1', 'scan-0']]);
    await vi.advanceTimersByTimeAsync(2_000);
    isThere = true;
    await vi.advanceTimersByTimeAsync(4_000);
    expect(requests).toEqual(Array(3).fill(['scan-1', 'scan-0']));
    expect(await waiting()).toEqual([]);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(requests).toHaveLength(3);
  });

  test('wait as long as the service says', async () => {
    let isBusy = true;
    const { parts, requests } = setUp(1, (scans) =>
      isBusy ? { code: 'rate_limited', retryAfter: 30 } : admitted(scans),
    );
    await createSender(parts)();
    isBusy = false;
    await vi.advanceTimersByTimeAsync(29_000);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests).toHaveLength(2);
  });

  test.each(['api_key_invalid', 'event_not_found'])('are not sent again after %s, and stay', async (code) => {
    const { parts, requests, waiting } = setUp(3, () => ({ code }));
    await createSender(parts)();
    await vi.advanceTimersByTimeAsync(600_000);
    expect([requests.length, (await waiting()).length]).toEqual([1, 3]);
  });

  test.each(['not_found', 'insufficient_scope'])(
    'are sent again after what a proxy or an earlier release answers: %s',
    async (code) => {
      const { parts, requests } = setUp(1, () => ({ code }));
      await createSender(parts)();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(requests.length).toBe(2);
    },
  );

  test('do not wait for one at fault, which is noted', async () => {
    const { parts, store, waiting } = setUp(40, (scans) =>
      scans.some(({ scanId }) => scanId === 'scan-17') ? { code: 'input_invalid' } : admitted(scans),
    );
    await createSender(parts)();
    expect(await waiting()).toEqual([]);
    expect(store.scans.get('scan-17')).toMatchObject({ refused: 'input_invalid' });
    expect([...store.scans.values()].filter(({ refused }) => refused !== undefined)).toHaveLength(1);
  });

  test('do not wait for one whose wallet cannot be read now, which is sent later', async () => {
    let isReadable = false;
    const { parts, waiting } = setUp(40, (scans) =>
      scans.some(({ scanId }) => scanId === 'scan-17') && !isReadable
        ? { code: 'eligibility_unavailable', retryAfter: 5 }
        : admitted(scans),
    );
    await createSender(parts)();
    expect(await waiting()).toEqual(['scan-17']);
    isReadable = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await waiting()).toEqual([]);
  });

  test('are not asked for one by one without end where no wallet can be read', async () => {
    const { parts, requests } = setUp(100, () => ({ code: 'eligibility_unavailable', retryAfter: 5 }));
    await createSender(parts)();
    expect(requests.length).toBeLessThan(20);
  });

  test('stay where the answer is not about them', async () => {
    const { parts, waiting } = setUp(3, () => ({ body: { items: [{ status: 'admitted' }] } }));
    await createSender(parts)();
    expect(await waiting()).toHaveLength(3);
  });

  test('that come while others are sent are sent as well', async () => {
    const { parts, store, requests, waiting } = setUp(1, (scans) => {
      if (store.scans.size === 1) {
        const [scan] = store.scans.values();
        store.scans.set('late', { ...(scan as Scan), scanId: 'late' });
        void send();
      }
      return admitted(scans);
    });
    const send = createSender(parts);
    await send();
    expect([requests, await waiting()]).toEqual([[['scan-0'], ['late']], []]);
  });
});
