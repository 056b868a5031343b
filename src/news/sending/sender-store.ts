import type { Database, Tx } from '../../contract/transaction.ts';
import type { DisabledReason, Endpoint } from '../endpoints/endpoint.ts';
import { endpointColumns } from '../endpoints/endpoint-store.ts';
import { epochSql, shortEpoch } from '../feed/feed-store.ts';
import type { News } from '../feed/news.ts';

export async function listEnabledEndpoints(db: Database): Promise<Endpoint[]> {
  const { rows } = await db.raw(
    `SELECT ${endpointColumns} FROM news_endpoints WHERE disabled_reason IS NULL`,
  );
  return rows;
}

/**
 * What waits first of each subject. It reads one row of each subject, however many others wait behind that: an index leads from subject
 * to subject.
 */
const headsSql = `
  heads AS (
    (SELECT d.subject, d.position, d.attempts, d.next_attempt_at FROM news_deliveries d
     WHERE d.endpoint_id = :id AND NOT d.delivered ORDER BY d.subject, d.position LIMIT 1)
    UNION ALL
    SELECT n.* FROM heads h CROSS JOIN LATERAL (
      SELECT d.subject, d.position, d.attempts, d.next_attempt_at FROM news_deliveries d
      WHERE d.endpoint_id = :id AND NOT d.delivered AND d.subject > h.subject ORDER BY d.subject, d.position LIMIT 1) n
  )`;

// Whether an endpoint gets a piece of news.
const wantedSql = `CASE WHEN m.type = 'endpoint.test' THEN m.subject = e.id ELSE e.types IS NULL OR m.type = ANY (e.types) END`;

// The gap is of news that were deleted by their age before they were taken over.
const takeOverSql = `
  WITH RECURSIVE ${headsSql}, e AS (
    SELECT *, :most - (SELECT count(*) FROM heads) AS room
    FROM news_endpoints WHERE id = :id AND disabled_reason IS NULL FOR NO KEY UPDATE
  ), fresh AS (
    SELECT n.* FROM e CROSS JOIN LATERAL (
      SELECT m.position, m.subject, ${wantedSql} AS wanted,
        count(*) FILTER (WHERE ${wantedSql} AND m.subject NOT IN (SELECT subject FROM heads)) OVER (ORDER BY m.position) AS places
      FROM (SELECT * FROM news WHERE company_id = e.company_id AND position > e.position ORDER BY position LIMIT :most) m) n
    WHERE n.places <= e.room
  ), bounds AS (
    SELECT min(f.position) > e.position + 1 AS has_gap, max(f.position) AS last, count(*) AS count
    FROM e CROSS JOIN fresh f GROUP BY e.position
  ), made AS (
    INSERT INTO news_deliveries (endpoint_id, position, subject)
    SELECT e.id, f.position, f.subject FROM e CROSS JOIN fresh f CROSS JOIN bounds b WHERE NOT b.has_gap AND f.wanted
    ON CONFLICT DO NOTHING
  ), moved AS (
    UPDATE news_endpoints SET position = b.last FROM bounds b WHERE id = :id AND NOT b.has_gap
  )
  SELECT coalesce(b.has_gap, false) AS "hasGap", coalesce(b.count >= :most, false) AS "hasMore"
  FROM e LEFT JOIN bounds b ON true`;

export type TakenOver = {
  /** Whether the feed no longer keeps the next news. */
  readonly hasGap: boolean;
  /** Whether as much was taken as is taken at once, so that there may be more. */
  readonly hasMore: boolean;
};

/**
 * Takes news over from the feed into deliveries, so many at once at most, and so that something of so many subjects waits at most. What
 * waits behind another of its subject takes no room, nor does what the endpoint does not want: a subject that is rejected blocks only
 * itself, and an endpoint with little room costs no more steps than others.
 * @returns undefined when the endpoint is no longer enabled
 */
export async function takeOver(db: Database, id: string, most: number): Promise<TakenOver | undefined> {
  const { rows }: { rows: TakenOver[] } = await db.raw(takeOverSql, { id, most });
  return rows[0];
}

/** Something to send now. */
export type Due = News & { readonly attempts: number; readonly epoch: string };

// What the endpoint was to get before, whatever its types were then.
const previousSql = `(SELECT d.position FROM news_deliveries d
  WHERE d.endpoint_id = e.id AND d.subject = n.subject AND d.position < n.position ORDER BY d.position DESC LIMIT 1)`;

const dueSql = `
  WITH RECURSIVE ${headsSql}, e AS (SELECT * FROM news_endpoints WHERE id = :id AND disabled_reason IS NULL)
  SELECT n.id, n.type, n.subject, n.data, n.created_at AS "createdAt", n.position::float8 AS position, h.attempts,
    ${previousSql}::float8 AS previous, ${epochSql} AS epoch
  FROM e JOIN heads h ON true JOIN news n ON n.company_id = e.company_id AND n.position = h.position
  WHERE coalesce(e.paused_until, '-infinity') <= clock_timestamp() AND h.next_attempt_at <= clock_timestamp()
    AND h.subject <> ALL (:busy::uuid[])
  ORDER BY h.position LIMIT :limit`;

type DueQuestion = {
  readonly id: string;
  /** Subjects of which something is being sent. */
  readonly busy: readonly string[];
  readonly limit: number;
};

/** Returns what is due: of each subject the oldest that waits, and nothing while that waits for its time. */
export async function findDue(db: Database, { id, busy, limit }: DueQuestion): Promise<Due[]> {
  const { rows }: { rows: Due[] } = await db.raw(dueSql, { id, limit, busy: [...busy] } as never);
  return rows.map((due) => ({ ...due, epoch: shortEpoch(due.epoch) }));
}

export type TryOutcome = {
  readonly position: number;
  readonly delivered: boolean;
  /** Null without an answer. */
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  /** When it is tried next. */
  readonly nextInMs: number;
};

/** What an endpoint's tries say of itself. */
export type EndpointOutcome = {
  readonly succeeded: boolean;
  readonly failed: boolean;
  /** For how long it asked to be left alone. */
  readonly pauseMs: number;
};

const recordSql = `
  WITH tried AS (
    SELECT * FROM jsonb_to_recordset(:outcomes::jsonb) AS o (position bigint, delivered boolean, status integer, error text,
      answer text, "nextInMs" double precision)
  ), kept AS (
    UPDATE news_deliveries d SET delivered = o.delivered, status = o.status, error = o.error, answer = o.answer,
      attempts = d.attempts + 1, attempted_at = clock_timestamp(),
      next_attempt_at = clock_timestamp() + make_interval(secs => o."nextInMs" / 1000)
    FROM tried o WHERE d.endpoint_id = :id AND d.position = o.position
    RETURNING d.delivered, d.next_attempt_at
  ), before AS (
    SELECT failing_since FROM news_endpoints WHERE id = :id
  ), health AS (
    UPDATE news_endpoints SET
      failing_since = CASE WHEN :succeeded THEN NULL ELSE coalesce(failing_since, clock_timestamp()) END,
      paused_until = CASE WHEN :pauseMs > 0 THEN clock_timestamp() + make_interval(secs => :pauseMs / 1000.0) ELSE paused_until END
    WHERE id = :id AND (:pauseMs > 0 OR (failing_since IS NOT NULL AND :succeeded) OR (failing_since IS NULL AND NOT :succeeded))
    RETURNING failing_since
  ), again AS (
    UPDATE news_deliveries d SET next_attempt_at = clock_timestamp()
    WHERE d.endpoint_id = :id AND NOT d.delivered AND d.next_attempt_at > clock_timestamp() AND :succeeded AND NOT :failed
      AND EXISTS (SELECT FROM before WHERE failing_since < clock_timestamp() - interval '1 minute') AND d.position NOT IN (SELECT position FROM tried)
  )
  SELECT extract(epoch FROM clock_timestamp() - coalesce(h.failing_since, b.failing_since)) * 1000 AS "failingMs",
    (SELECT coalesce(array_agg(DISTINCT date_trunc('second', next_attempt_at) + interval '1 second'), '{}')
     FROM kept WHERE NOT delivered) AS "nextTries"
  FROM before b LEFT JOIN health h ON true`
  .replaceAll(':succeeded', ':succeeded::boolean')
  .replaceAll(':failed', ':failed::boolean')
  .replaceAll(':pauseMs', ':pauseMs::double precision');

/**
 * Stores the outcomes of tries. When an endpoint answers again that had only failed for a minute, all its waiting
 * deliveries are due. A single news item that is rejected among others keeps its schedule.
 * @returns for how long the endpoint has only failed, and when these deliveries are tried next, in whole seconds
 */
export async function recordOutcomes(
  tx: Tx,
  id: string,
  outcomes: readonly TryOutcome[],
  of: EndpointOutcome,
): Promise<{ readonly failingMs: number; readonly nextTries: readonly Date[] }> {
  const { rows }: { rows: { failingMs: string | null; nextTries: Date[] }[] } = await tx.raw(recordSql, {
    id,
    outcomes: JSON.stringify(outcomes),
    ...of,
  });
  const [{ failingMs = null, nextTries = [] } = {}] = rows;
  return { failingMs: of.succeeded ? 0 : Number(failingMs ?? 0), nextTries };
}

/** Disables an endpoint, and writes the news of it, once. */
export async function disableEndpoint(db: Database, id: string, reason: DisabledReason): Promise<void> {
  await db.raw(
    `WITH e AS (
       UPDATE news_endpoints SET disabled_reason = :reason WHERE id = :id AND disabled_reason IS NULL RETURNING id, company_id)
     INSERT INTO news (company_id, type, subject, data)
     SELECT company_id, 'endpoint.disabled', id, jsonb_build_object('endpointId', id, 'reason', :reason::text) FROM e`,
    { id, reason },
  );
}
