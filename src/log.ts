import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

// Anything that may carry a secret is cut out by name, wherever a caller puts it.
const secretNames = ['secret', 'apiKey', 'key', 'password', 'authorization', 'privateKey', 'databaseUrl'];
const redactPaths = [
  ...secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  'headers["x-api-key"]',
  '*.headers["x-api-key"]',
];

/**
 * The structured logger: one JSON object a line, on standard output unless a destination is given.
 * Fields named like secrets are redacted; URLs are the caller's to redact ({@link redactUrl}).
 */
export function createLogger(options: { level: string; destination?: DestinationStream }): Logger {
  return pino(
    { level: options.level, redact: { paths: redactPaths, censor: '[redacted]' }, base: null },
    options.destination ?? pino.destination(1),
  );
}

/** A URL fit for logs and people: no user, password, path or query, where node providers put their keys. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '[unreadable url]';
  const { protocol, host, pathname, search, username } = new URL(url);
  const hidden = pathname.length > 1 || search !== '' || username !== '';
  return `${protocol}//${host}${hidden ? '/[redacted]' : ''}`;
}
