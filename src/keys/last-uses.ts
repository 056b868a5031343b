import type { Logger } from '../base/log.ts';
import type { Database } from '../contract/transaction.ts';
import { isOutage } from '../db/connection/outage.ts';

const minuteMs = 60_000;
// Keys of other services have other ids, and no row.
const ownId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export type LastUses = {
  /** Notes in memory that a key is used now. */
  note(keyId: string): void;
  /** Stores what was noted since the last time, by one statement; without notes by none. Never rejects. */
  flush(): Promise<void>;
  /** Stores the rest. */
  stop(): Promise<void>;
};

type LastUsesOptions = {
  readonly db: Database;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** Stores the minute in which each key was last used, once a minute, so that no request waits for a write. */
export function createLastUses({ db, log, now = Date.now }: LastUsesOptions): LastUses {
  let minutes = new Map<string, number>();
  const noteAt = (keyId: string, minute: number) => {
    if (minute > (minutes.get(keyId) ?? 0)) minutes.set(keyId, minute);
  };
  const flush = async () => {
    if (minutes.size === 0) return;
    const noted = minutes;
    minutes = new Map();
    try {
      await saveLastUses(db, noted);
    } catch (err) {
      for (const [keyId, minute] of noted) noteAt(keyId, minute);
      // An outage of the database is logged where it is met first.
      if (!isOutage(err)) log.warn({ err }, 'last uses of keys not stored');
    }
  };
  const timer = setInterval(flush, minuteMs).unref();
  return {
    note(keyId) {
      if (ownId.test(keyId)) noteAt(keyId, Math.floor(now() / minuteMs) * minuteMs);
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Of several processes the latest use wins. Locks are taken in one order, so that no two processes wait for each other. */
async function saveLastUses(db: Database, minutes: ReadonlyMap<string, number>): Promise<void> {
  await db.raw(
    `WITH used AS (
       SELECT k.id, u.at FROM api_keys k
         JOIN unnest(:ids::uuid[], :times::timestamptz[]) AS u (id, at) ON u.id = k.id
       WHERE k.last_used_at IS NULL OR k.last_used_at < u.at
       ORDER BY k.id FOR NO KEY UPDATE OF k)
     UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, used.at) FROM used WHERE k.id = used.id`,
    {
      ids: [...minutes.keys()],
      times: [...minutes.values()].map((minute) => new Date(minute).toISOString()),
    },
  );
}
