import { type DestinationStream, type Logger, pino } from 'pino';
import { currentScope } from './request-scope.ts';

export type { Logger };

export type LoggerOptions = {
  readonly level: string;
  /** Standard output by default. */
  readonly destination?: DestinationStream;
  /** Of the program; named in every line. */
  readonly version?: string;
  /** What the process does; named in every line. */
  readonly roles?: readonly string[];
  /** Texts that no line may have, wherever they stand. */
  readonly secrets?: readonly string[];
};

// Fields that may contain a secret are redacted by name, up to two levels deep.
const secretNames = ['secret', 'apiKey', 'key', 'password', 'authorization', 'privateKey', 'databaseUrl'];
const redactPaths = [
  ...secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  'headers["x-api-key"]',
  '*.headers["x-api-key"]',
];
const censor = '[redacted]';

/**
 * The structured logger: one JSON object a line, with the time in ISO 8601, the level as a word, and what the present work
 * belongs to: request and company, or jobs. Redacted are fields with the names of secrets and, wherever they stand, the given
 * secrets, API keys, and user and password of a URL; callers redact other parts of URLs by {@link redactUrl}.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { level, destination, version, roles, secrets = [] } = options;
  return pino(
    {
      level,
      base: { service: 'tallystick', ...(version && { version }), ...(roles && { role: roles.join() }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => ({ ...currentScope()?.facts }),
      redact: { paths: redactPaths, censor },
      hooks: { streamWrite: createRedaction(secrets) },
    },
    destination ?? pino.destination(1),
  );
}

// An API key; what a caller is authorized by; user and password of a URL.
const secretForms = String.raw`\btk_[a-z]{2,10}_[0-9A-Za-z]{36}|\bBearer [\w.~+\/-]+=*|:\/\/[^\s\/?#"@]+@`;

// Shorter texts are in words of every line, such as `level`.
const shortestSecret = 8;

/** Takes secrets out of a line, which is JSON: secrets with characters that JSON escapes are searched as it writes them. */
function createRedaction(secrets: readonly string[]): (line: string) => string {
  const written = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  // The longest first, so that of a secret within another nothing stays.
  const texts = [...new Set(written)]
    .filter((text) => text.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);
  const found = new RegExp([...texts.map(quoted), secretForms].join('|'), 'g');
  // Most lines have nothing of it, and a search for texts costs a tenth of the expression.
  const signs = [...texts, 'tk_', 'Bearer ', '://'];
  return (line) =>
    signs.some((sign) => line.includes(sign))
      ? line.replace(found, (text) => (text.startsWith('://') ? `://${censor}@` : censor))
      : line;
}

const quoted = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** A URL for logs and people, without user, password, path and query: node providers put their keys there. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '[unreadable url]';
  const { protocol, host, pathname, search, username, password } = new URL(url);
  const hidden = pathname.length > 1 || [search, username, password].some((part) => part !== '');
  return `${protocol}//${host}${hidden ? '/[redacted]' : ''}`;
}
