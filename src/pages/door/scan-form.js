/* The scans of this phone, as the service and files have them. Pure. */

/** The form of a scan in `scans` of a check-in. */
export function sentForm({ scanId, kind, at, gate, ticket, typed, undoes }) {
  const what = kind === 'undo' ? { undoes } : ticket === undefined ? { attendeeId: typed } : { ticket };
  return { scanId, kind, at, ...(gate === '' ? {} : { gate }), ...what };
}

// As many as a check-in may have.
const mostInRequest = 200;

/** Scans as JSON: a list of events, each with scans as a check-in has them, at most as many as a request may have. */
export function scansAsJson(scans) {
  const parts = [];
  for (const scan of scans) {
    const fits = ({ eventId, scans: others }) => eventId === scan.eventId && others.length < mostInRequest;
    const part = parts.find(fits) || { eventId: scan.eventId, scans: [] };
    if (part.scans.length === 0) parts.push(part);
    part.scans.push(sentForm(scan));
  }
  return `${JSON.stringify(parts, null, 2)}\n`;
}

const columns = ['eventId', 'scanId', 'kind', 'at', 'gate', 'ticket', 'attendeeId', 'undoes', 'refused'];

/** Scans as a table. */
export function scansAsCsv(scans) {
  const rows = scans.map((scan) => ({ eventId: scan.eventId, ...sentForm(scan), refused: scan.refused }));
  return [columns, ...rows.map((row) => columns.map((column) => cellOf(row[column])))]
    .map((cells) => `${cells.join(',')}\r\n`)
    .join('');
}

// A spreadsheet calculates what begins with these characters.
const cellOf = (value = '') => {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
};
