import { describe, expect, test } from 'vitest';
import { createLogger, type LoggerOptions } from '../src/base/log.ts';
import { inScope } from '../src/base/request-scope.ts';
import { secretTexts } from '../src/service/secret-settings.ts';

function logged(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, log: createLogger({ level: 'info', destination, ...options }) };
}

describe('a line of the log', () => {
  test('has its time in ISO 8601, its level as a word, service, version and roles', () => {
    const { log, lines } = logged({ version: '1.2.3', roles: ['api', 'worker'] });
    log.warn('careful');
    const { time, ...line } = JSON.parse(lines[0] ?? '');
    expect(new Date(time).toISOString()).toBe(time);
    expect(line).toEqual({
      level: 'warn',
      service: 'tallystick',
      version: '1.2.3',
      role: 'api,worker',
      msg: 'careful',
    });
  });

  test('names what the work belongs to, whoever writes it', () => {
    const { log, lines } = logged();
    const facts = { queue: 'mint', jobIds: ['j'], jobs: 1 };
    inScope({ signal: new AbortController().signal, isRead: false, facts }, () => log.info('working'));
    log.info('idle');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject(facts);
    expect(JSON.parse(lines[1] ?? '')).not.toHaveProperty('queue');
  });

  test('stays as it is for a password that is a word of every line', () => {
    const { log, lines } = logged({ secrets: secretTexts({ DATABASE_URL: 'postgres://shop:level@db/x' }) });
    log.info('ready');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', msg: 'ready' });
  });

  test('has no secret of the settings, no API key, no password of a URL, in whatever it stands', () => {
    const env = {
      DATABASE_URL: 'postgres://shop:p%40ss%22word@db/x',
      SECRET_KEYS: `new:${Buffer.alloc(32, 5).toString('base64')}\nold:${Buffer.alloc(32, 6).toString('base64')}`,
      AUTH_CREDENTIAL: 'quoted "credential"',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=ops%20only,x-token=token%2Fof%2Fthe%2Fcollector',
    };
    const secrets = [
      ...['p%40ss%22word', 'p@ss"word', Buffer.alloc(32, 5).toString('base64')],
      ...[Buffer.alloc(32, 6).toString('base64'), 'quoted "credential"', `tk_live_${'a'.repeat(36)}`],
      ...['abcdefghijkl', 'user:pass', 'token/of/the/collector', 'ops only'],
    ];
    const { log, lines } = logged({ secrets: secretTexts(env) });
    const cause = new Error(`refused ${env.DATABASE_URL} Bearer abcdefghijkl wss://user:pass@node/`);
    log.error(
      { err: new Error(secrets.join(' '), { cause }), deep: { er: { still: [secrets] } } },
      secrets[2],
    );
    const written = JSON.stringify(JSON.parse(lines[0] ?? ''));
    for (const secret of secrets) {
      // Of this one, the test itself wrote the words without their scheme.
      if (secret === 'user:pass') expect(written).not.toContain('user:pass@');
      else if (secret !== 'abcdefghijkl') expect(written).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
    expect(written).not.toContain('Bearer abc');
    expect(written).toContain('wss://[redacted]@node/');
  });
});
