import type { Logger } from '../base/log.ts';
import type { Database } from '../contract/transaction.ts';
import { isOutage } from '../db/connection/outage.ts';
import { inTransaction } from '../db/connection/transaction.ts';
import { saveLastUses } from './key-store.ts';
import { addUsage, type UsageMinute } from './usage-store.ts';

const minuteMs = 60_000;

/** What a request was: of a key that was verified, and of an operation. */
type Use = {
  readonly keyId?: string | undefined;
  readonly companyId?: string | undefined;
  readonly operationId?: string | undefined;
};

export type KeyUses = {
  /** Notes an answered request in memory. @param status undefined when the caller disconnected before */
  note(use: Use, status: number | undefined): void;
  /** Stores what was noted since the last time, in one transaction; without notes in none. Never rejects. */
  flush(): Promise<void>;
  /** Stores the rest. */
  stop(): Promise<void>;
};

type KeyUsesOptions = {
  readonly db: Database;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/**
 * Counts the requests of each key by operation and minute, and notes when each key was last used. It stores both once a
 * minute, so that no request waits for a write.
 */
export function createKeyUses({ db, log, now = Date.now }: KeyUsesOptions): KeyUses {
  let lastUses = new Map<string, number>();
  let counts = new Map<string, UsageMinute>();

  const noteLast = (keyId: string, minute: number) => {
    if (minute > (lastUses.get(keyId) ?? 0)) lastUses.set(keyId, minute);
  };
  const count = (entry: UsageMinute) => {
    const name = JSON.stringify([entry.companyId, entry.minute, entry.keyId, entry.operation]);
    const known = counts.get(name);
    const calls = entry.calls + (known?.calls ?? 0);
    const rejections = entry.rejections + (known?.rejections ?? 0);
    counts.set(name, { ...entry, calls, rejections });
  };
  const flush = async () => {
    if (lastUses.size === 0) return;
    const noted = { lastUses, counts };
    lastUses = new Map();
    counts = new Map();
    try {
      await inTransaction(db, async (tx) => {
        await saveLastUses(tx, noted.lastUses);
        await addUsage(tx, [...noted.counts.values()]);
      });
    } catch (err) {
      for (const [keyId, minute] of noted.lastUses) noteLast(keyId, minute);
      for (const entry of noted.counts.values()) count(entry);
      // An outage of the database is logged where it is met first.
      if (!isOutage(err)) log.warn({ err }, 'uses of keys not stored');
    }
  };
  const timer = setInterval(flush, minuteMs).unref();
  return {
    note({ keyId, companyId, operationId: operation }, status) {
      if (keyId === undefined) return;
      const minute = Math.floor(now() / minuteMs) * minuteMs;
      noteLast(keyId, minute);
      if (companyId === undefined || operation === undefined) return;
      const rejections = status !== undefined && status >= 400 ? 1 : 0;
      count({ companyId, minute, keyId, operation, calls: 1, rejections });
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
