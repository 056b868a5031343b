/*
 * What scans come to, in SQL, for lists. `fold.ts` says the same of the scans of a registration. Each parameter is the alias of a row of
 * `checkin_scans`, or of `attendees`.
 */

const undoneSql = (scan: string): string => `EXISTS (
  SELECT FROM checkin_scans undo WHERE undo.event_id = ${scan}.event_id AND undo.undoes = ${scan}.scan_id)`;

/** Whether a scan is an entry or exit that counts. */
export const validSql = (scan: string): string =>
  `${scan}.kind <> 'undo' AND ${scan}.eligible IS NOT FALSE AND NOT ${undoneSql(scan)}`;

const lastSql = (of: string, condition: string): string => `(
  SELECT last.kind = 'entry' FROM checkin_scans last
  WHERE last.event_id = ${of}.event_id AND last.attendee_id = ${of}.attendee_id AND ${condition} AND ${validSql('last')}
  ORDER BY last.at DESC, last.scan_id DESC LIMIT 1)`;

/** Whether an attendee is inside; null without a valid scan. */
export const insideSql = (attendee: string): string => lastSql(attendee, 'true');

/** What a scan comes to. */
export const statusSql = (scan: string): string => `
  CASE
    WHEN ${scan}.kind = 'undo' THEN CASE WHEN EXISTS (
      SELECT FROM checkin_scans target WHERE target.event_id = ${scan}.event_id AND target.scan_id = ${scan}.undoes
        AND target.kind = 'undo') THEN 'undo_of_undo' ELSE 'undone' END
    WHEN ${undoneSql(scan)} THEN 'undone'
    WHEN NOT ${scan}.eligible THEN 'no_longer_eligible'
    WHEN ${lastSql(scan, `(last.at, last.scan_id) < (${scan}.at, ${scan}.scan_id)`)}
      THEN CASE ${scan}.kind WHEN 'entry' THEN 'already_admitted' ELSE 'exited' END
    ELSE CASE ${scan}.kind WHEN 'entry' THEN 'admitted' ELSE 'not_inside' END
  END`;
