const [second, minute, hour] = [1_000, 60_000, 3_600_000];

// Of Standard Webhooks: ten tries within three days.
const waits = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** Time until the next try, in milliseconds. After the schedule of the specification it is a day. @param failed tries that have failed */
export const waitAfter = (failed: number): number => waits[failed - 1] ?? 24 * hour;

/** For how long `Retry-After` asks to wait, in milliseconds, a day at most; 0 without it. */
export function retryAfterMs(header: string | readonly string[] | undefined, now = Date.now()): number {
  const text = typeof header === 'string' ? header.trim() : '';
  const ms = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now;
  return Number.isNaN(ms) ? 0 : Math.min(24 * hour, Math.max(0, ms));
}
