const shape =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d)))?$/;

// RFC 3339 years have four digits, and PostgreSQL has no year 0. An offset can shift a date beyond both limits.
const earliest = Date.parse('0001-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses an RFC 3339 date-time with offset, or a date, which means midnight UTC. Fractions of a millisecond are cut
 * off.
 * @returns undefined for anything else, including days that the calendar lacks, leap seconds, hour 24, and dates
 *   outside the years 0001 to 9999 UTC
 */
export function parseIsoDate(text: string): Date | undefined {
  const found = shape.exec(text);
  if (found === null) return undefined;
  const [, year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = found.map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A month 13 or a February 30 has rolled over into the next month.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const [, , , , , , , fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = found;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  date.setUTCHours(hours || 0, (minutes || 0) - offset, seconds || 0, milliseconds);
  return date.getTime() < earliest || date.getTime() > latest ? undefined : date;
}
