import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

// Fields that may contain a secret are redacted by name, up to two levels deep.
const secretNames = ['secret', 'apiKey', 'key', 'password', 'authorization', 'privateKey', 'databaseUrl'];
const redactPaths = [
  ...secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  'headers["x-api-key"]',
  '*.headers["x-api-key"]',
];

/**
 * The structured logger: one JSON object a line, by default on standard output. Fields with the names of secrets
 * are redacted; callers redact URLs by {@link redactUrl}.
 */
export function createLogger(options: { level: string; destination?: DestinationStream }): Logger {
  return pino(
    { level: options.level, redact: { paths: redactPaths, censor: '[redacted]' }, base: null },
    options.destination ?? pino.destination(1),
  );
}

/** A URL for logs and people, without user, password, path and query: node providers put their keys there. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '[unreadable url]';
  const { protocol, host, pathname, search, username } = new URL(url);
  const hidden = pathname.length > 1 || search !== '' || username !== '';
  return `${protocol}//${host}${hidden ? '/[redacted]' : ''}`;
}
