import { createHash } from 'node:crypto';
import type { Database } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import type { News, NewsType } from './news.ts';

/** A place in the feed of a company: behind the news with this number. */
export type FeedPlace = {
  /** Names the state of the database that the place belongs to. */
  readonly epoch: string;
  readonly position: number;
  /** The beginning of the id of the news there; empty where there is none. */
  readonly mark: string;
};

export type FeedPage = {
  readonly news: readonly News[];
  /** Where the feed goes on. */
  readonly next: FeedPlace;
  readonly hasMore: boolean;
};

/** Reading cannot go on from the place: the feed begins at another place. */
export class FeedRestartedError extends Error {
  readonly restart: FeedPlace;

  constructor(restart: FeedPlace) {
    super('the feed does not go on from there');
    this.restart = restart;
  }
}

type Question = {
  readonly companyId: string;
  /** Undefined for the oldest news. */
  readonly after: FeedPlace | undefined;
  /** Undefined for all. */
  readonly types: readonly NewsType[] | undefined;
  readonly limit: number;
};

// The most news that a question reads when `types` leaves out most of the news.
const span = 2_000;

// Of the cluster, of its way through restores and failovers, and of a table that was restored into it.
export const epochSql = `(SELECT system_identifier FROM pg_control_system()) || '.'
  || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || '.' || 'news'::regclass::oid`;

// The identity of a cluster is nobody's business.
export const shortEpoch = (epoch: string) => createHash('sha256').update(epoch).digest('hex').slice(0, 12);

// The number of the news before, of the same subject. It reads one row of each type, however many others the subject has.
const before = 'p.subject = m.subject AND p.company_id = m.company_id AND p.position IS NOT NULL';
// The order by type and number leaves one index only, whatever the statistics say of a type.
const previousSql = `(SELECT CASE WHEN $3::text[] IS NULL
  THEN (SELECT p.position FROM news p WHERE ${before} AND p.seq < m.seq ORDER BY p.seq DESC LIMIT 1)
  ELSE (SELECT max(of_type.position) FROM unnest($3::text[]) AS wanted (type) JOIN LATERAL (
    SELECT p.type, p.position FROM news p WHERE ${before} AND (p.type, p.seq) < (wanted.type, m.seq)
    ORDER BY p.type DESC, p.seq DESC LIMIT 1) of_type ON of_type.type = wanted.type) END)`;

/** Which news a company sees in its feed: the test messages of its endpoints, too. */
const pageSql = `
  WITH feed AS (
    SELECT coalesce((SELECT last_position FROM news_feeds WHERE company_id = $1), 0) AS last,
      (SELECT position FROM news WHERE company_id = $1 AND position IS NOT NULL ORDER BY position LIMIT 1) AS oldest,
      ${epochSql} AS epoch
  ), place AS (
    SELECT *, coalesce($2::bigint, coalesce(oldest, last + 1) - 1) AS at FROM feed
  ), bounds AS (
    SELECT *, least(at + ${span}, last) AS until FROM place
  )
  SELECT b.epoch, b.last::float8 AS last, coalesce(b.oldest, b.last + 1)::float8 AS oldest, b.until::float8 AS until,
    (SELECT left(id::text, 8) FROM news WHERE company_id = $1 AND position = b.at) AS mark,
    (SELECT left(id::text, 8) FROM news WHERE company_id = $1 AND position = b.until) AS "untilMark",
    n.id, n.type, n.subject, n.data, n.created_at AS "createdAt",
    n.position::float8 AS position, n.previous::float8 AS previous
  FROM bounds b LEFT JOIN LATERAL (
    SELECT m.*, ${previousSql} AS previous FROM news m
    WHERE m.company_id = $1 AND m.position > b.at AND m.position <= b.until AND ($3::text[] IS NULL OR m.type = ANY ($3::text[]))
    ORDER BY m.position LIMIT $4) n ON true
  ORDER BY n.position`;

type StateRow = {
  readonly epoch: string;
  readonly last: number;
  readonly oldest: number;
  readonly until: number;
  readonly mark: string | null;
  readonly untilMark: string | null;
};
type PageRow = StateRow & (News | { readonly position: null });

/** Reads a page by one statement, which sees one moment. @throws FeedRestartedError */
export async function readFeed(
  db: Database,
  { companyId, after, types, limit }: Question,
): Promise<FeedPage> {
  const values = [companyId, after?.position ?? null, types === undefined ? null : [...types], limit + 1];
  const { rows } = await prepared<PageRow>(db, 'read_feed', pageSql, values);
  const [first] = rows;
  if (first === undefined) throw new Error('the state of the feed was not read');
  const state = { ...first, epoch: shortEpoch(first.epoch) };
  if (after !== undefined && !isKept(after, state)) {
    throw new FeedRestartedError({ epoch: state.epoch, position: state.oldest - 1, mark: '' });
  }
  const found = rows.flatMap((row) => (row.position === null ? [] : [row]));
  const news = found.slice(0, limit);
  const last = news.at(-1);
  const isCut = found.length > limit && last !== undefined;
  const next = isCut ? placeOf(last, state.epoch) : endOf(state);
  return { news, next, hasMore: isCut || next.position < state.last };
}

/** The place behind one piece of news. */
export const placeOf = ({ id, position }: Pick<News, 'id' | 'position'>, epoch: string): FeedPlace => ({
  epoch,
  position,
  mark: id.slice(0, 8),
});

const endOf = ({ epoch, until, untilMark }: StateRow): FeedPlace => ({
  epoch,
  position: until,
  mark: untilMark ?? '',
});

/** Whether the feed goes on from the place without a gap: nothing behind it is gone, and what stands there is what stood there. */
function isKept({ epoch, position, mark }: FeedPlace, state: StateRow): boolean {
  if (epoch !== state.epoch || position > state.last || position + 1 < state.oldest) return false;
  return mark === '' || state.mark === null || state.mark === mark;
}
