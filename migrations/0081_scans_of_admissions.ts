import type { Knex } from 'knex';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * The scan of each admission from before there were scans. A trigger writes those of admissions that 0.2.0 still adds. An attendee who is
 * removed meanwhile is left out.
 */
const part = `
  WITH part AS MATERIALIZED (
    SELECT event_id, attendee_id FROM attendees WHERE (event_id, attendee_id) > (?::uuid, ?)
    ORDER BY event_id, attendee_id LIMIT 5000
  ), admitted AS (
    SELECT a.event_id, a.attendee_id, a.checked_in_at FROM attendees a JOIN part USING (event_id, attendee_id)
    WHERE a.checked_in_at IS NOT NULL FOR KEY SHARE OF a
  ), made AS (
    INSERT INTO checkin_scans (event_id, scan_id, kind, at, attendee_id, received_at)
    SELECT event_id, gen_random_uuid(), 'entry', date_trunc('milliseconds', checked_in_at), attendee_id, checked_in_at
    FROM admitted a WHERE NOT EXISTS (
      SELECT FROM checkin_scans s WHERE s.event_id = a.event_id AND s.attendee_id = a.attendee_id AND s.kind = 'entry')
  )
  SELECT event_id, attendee_id FROM part ORDER BY event_id DESC, attendee_id DESC LIMIT 1`;

export async function up(knex: Knex): Promise<void> {
  for (let last = ['00000000-0000-0000-0000-000000000000', '']; ; ) {
    const { rows } = await knex.raw(part, last);
    if (rows.length === 0) return;
    last = [rows[0].event_id, rows[0].attendee_id];
  }
}

export const config = { transaction: false };
