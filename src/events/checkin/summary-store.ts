import type { Database } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { validSql } from './scan-sql.ts';

type Counts = { readonly entries: number; readonly exits: number };

/** What the scans of an event come to. */
export type CheckInSummary = {
  readonly registered: number;
  readonly inside: number;
  readonly admitted: number;
  readonly gates: readonly (Counts & { readonly gate: string | null })[];
  /** `hour` is when it begins. */
  readonly hours: readonly (Counts & { readonly hour: string })[];
};

const mostGates = 100;
const mostHours = 336;

const counts = `count(*) FILTER (WHERE kind = 'entry')::int AS entries, count(*) FILTER (WHERE kind = 'exit')::int AS exits`;

// A passage counts where it changed something, so of each attendee entries and exits alternate.
const summarySql = `
  WITH passages AS (
    SELECT s.attendee_id, s.kind, s.gate, date_trunc('hour', s.at, 'UTC') AS hour,
      lag(s.kind) OVER (PARTITION BY s.attendee_id ORDER BY s.at, s.scan_id) AS kind_before
    FROM events e JOIN checkin_scans s ON s.event_id = e.id
    WHERE e.company_id = $1 AND e.id = $2 AND ${validSql('s')}
  ), counted AS (
    SELECT * FROM passages WHERE (kind = 'entry') = (kind_before IS DISTINCT FROM 'entry')
  ), gates AS (
    SELECT gate, ${counts} FROM counted GROUP BY gate ORDER BY count(*) DESC, gate LIMIT ${mostGates}
  ), hours AS (
    SELECT hour, ${counts} FROM counted GROUP BY hour ORDER BY hour DESC LIMIT ${mostHours}
  ), totals AS (
    SELECT count(DISTINCT attendee_id)::int AS admitted, ${counts} FROM counted
  )
  SELECT e.total_attendees AS registered, t.entries - t.exits AS inside, t.admitted,
    (SELECT coalesce(jsonb_agg(to_jsonb(g) ORDER BY entries + exits DESC, gate), '[]') FROM gates g) AS gates,
    (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY hour), '[]') FROM hours h) AS hours
  FROM events e, totals t WHERE e.company_id = $1 AND e.id = $2`;

/** Counts who came in and went out; undefined when the company has no such event. */
export async function summarizeScans(
  db: Database,
  companyId: string,
  eventId: string,
): Promise<CheckInSummary | undefined> {
  const { rows } = await prepared<CheckInSummary>(db, 'summarize_scans', summarySql, [companyId, eventId]);
  return rows[0];
}
