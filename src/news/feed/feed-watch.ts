import { setTimeout as delay } from 'node:timers/promises';
import type { Notifications } from '../../db/connection/notifications.ts';
import { newsChannel } from './news.ts';

/** Wakes the requests that wait for the news of a company. It uses no connection of its own. */
export type FeedWatch = {
  /**
   * Begins to wait. It is called before the feed is read, so that nothing is missed in between.
   * @returns what waits until the company may have news, at most so many milliseconds, and whose `end` is called in any case; undefined
   *   where as many wait for the key or the company as may
   */
  begin(reader: FeedReader): { wait(ms: number): Promise<void>; end(): void } | undefined;
  waiting(): number;
  /** Whether nobody may wait any more. */
  isClosed(): boolean;
  /** Wakes everybody, for good. */
  close(): void;
};

/** The key that waits. */
export type FeedReader = { readonly companyId: string; readonly keyId: string };

type Waiter = FeedReader & { readonly wake: () => void };

// Each takes a connection of the process.
const [mostOfKey, mostOfCompany] = [20, 100];

/** Creates a watch over the notifications of the sequencer. */
export async function createFeedWatch(notifications: Pick<Notifications, 'subscribe'>): Promise<FeedWatch> {
  const waiters = new Set<Waiter>();
  let closed = false;
  const wake = (concerns: (companyId: string) => boolean) => {
    for (const waiter of waiters) if (concerns(waiter.companyId)) waiter.wake();
  };
  const unsubscribe = await notifications.subscribe({
    channel: newsChannel,
    onNotify: (companyId) => wake((own) => own === companyId),
    onGap: () => wake(() => true),
  });
  return {
    begin({ companyId, keyId }) {
      const ofCompany = [...waiters].filter((waiter) => waiter.companyId === companyId);
      const ofKey = ofCompany.filter((waiter) => waiter.keyId === keyId);
      if (ofCompany.length >= mostOfCompany || ofKey.length >= mostOfKey) return undefined;
      const woken = new AbortController();
      const waiter = { companyId, keyId, wake: () => woken.abort() };
      waiters.add(waiter);
      return {
        wait: (ms) => delay(ms, undefined, { signal: woken.signal }).catch(() => {}),
        end() {
          waiters.delete(waiter);
          woken.abort();
        },
      };
    },
    waiting: () => waiters.size,
    isClosed: () => closed,
    close() {
      closed = true;
      unsubscribe();
      wake(() => true);
    },
  };
}
