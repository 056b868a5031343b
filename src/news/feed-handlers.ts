import { problem } from '../base/errors.ts';
import { untilAborted } from '../base/in-time.ts';
import { currentScope } from '../base/request-scope.ts';
import type { operations } from '../contract/generated/news.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import { feedCursor, placeOfCursor } from './feed/feed-cursor.ts';
import { type FeedPage, FeedRestartedError, readFeed } from './feed/feed-store.ts';
import type { FeedReader, FeedWatch } from './feed/feed-watch.ts';
import { newsToApi, type RecordPaths } from './feed/news-to-api.ts';

export type FeedParts = {
  readonly db: Database;
  readonly watch: FeedWatch;
  readonly paths: RecordPaths;
};

type FeedOperations = Pick<operations, 'listNews'>;
type Question = Parameters<typeof readFeed>[1];

const usualLimit = 50;

export function createFeedHandlers({
  db,
  watch,
  paths,
}: FeedParts): Handlers<FeedOperations, CompanyContext> {
  return {
    async listNews({ query, header }, { companyId, caller: { keyId }, assertStillAllowed }) {
      const { after, types, limit = usualLimit } = query;
      const place = after === undefined ? undefined : placeOfCursor(companyId, after);
      const seconds = secondsToWait(header.Prefer);
      const question = { companyId, after: place, types, limit };
      const reading =
        seconds === 0
          ? readFeed(db, question).then((page) => ({ page, isWaiter: false }))
          : readOrWait(db, watch, { ...question, keyId }, { ms: seconds * 1_000, assertStillAllowed });
      const { page, isWaiter } = await reading.catch((error: unknown) => {
        throw error instanceof FeedRestartedError ? restartProblem(companyId, query, error, paths) : error;
      });
      const { epoch } = page.next;
      const body = {
        news: page.news.map((news) => newsToApi(news, { companyId, epoch, paths })),
        cursor: feedCursor(companyId, page.next),
        hasMore: page.hasMore,
      };
      const headers = seconds === 0 ? {} : { 'Preference-Applied': `wait=${isWaiter ? seconds : 0}` };
      return { status: 200, body, headers };
    },
  };
}

const longestSeconds = 60;

/** The seconds of `Prefer: wait=`, by RFC 7240; 0 without it. */
function secondsToWait(prefer = ''): number {
  const [, seconds = '0'] = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[;,]|$)/i.exec(prefer) ?? [];
  return Math.min(longestSeconds, Number(seconds));
}

type Patience = { readonly ms: number } & Pick<CompanyContext, 'assertStillAllowed'>;
type Waited = { readonly page: FeedPage /** Whether the reader might wait. */; readonly isWaiter: boolean };

/**
 * Reads again whenever there may be news, until there are some or the time is up. Meanwhile the request has neither a connection
 * to the database nor a place of the admission. Where too many wait already, it answers at once. The key may have ended while it
 * waited, so the key is verified again.
 */
async function readOrWait(
  db: Database,
  watch: FeedWatch,
  question: Question & FeedReader,
  { ms, assertStillAllowed }: Patience,
): Promise<Waited> {
  const scope = currentScope();
  scope?.allowMore?.(ms);
  const until = performance.now() + ms;
  for (let { after } = question, hasWaited = false; ; hasWaited = true) {
    const waiting = watch.begin(question);
    try {
      const page = await readFeed(db, { ...question, after });
      const leftMs = until - performance.now();
      const isOver = page.news.length > 0 || page.hasMore || leftMs <= 0 || watch.isClosed();
      if (isOver || waiting === undefined) {
        if (hasWaited) await assertStillAllowed();
        return { page, isWaiter: waiting !== undefined || hasWaited };
      }
      after = page.next;
      scope?.onAway?.();
      scope?.onIdle?.();
      const woken = waiting.wait(leftMs);
      await (scope === undefined ? woken : untilAborted(woken, scope.signal));
    } finally {
      waiting?.end();
    }
  }
}

function restartProblem(
  companyId: string,
  { types, limit }: { readonly types?: readonly string[]; readonly limit?: number },
  { restart }: FeedRestartedError,
  paths: RecordPaths,
) {
  const after = feedCursor(companyId, restart);
  const query = new URLSearchParams({
    ...(types !== undefined && { types: types.join() }),
    ...(limit !== undefined && { limit: String(limit) }),
    after,
  });
  const headers = { Link: `<${paths.news}/feed?${query}>; rel="next"`, 'X-Next-Cursor': after };
  return problem('feed_restarted', {}, { headers });
}
