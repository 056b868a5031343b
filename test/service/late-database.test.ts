import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { untilServerAnswers } from '../../src/db/connection/await-server.ts';
import { createTemplate, createTestDatabase } from '../support/database.ts';
import { freePort, startPostgres } from '../support/postgres.ts';
import { processSettings, startMain, startProcess } from '../support/process.ts';

describe('while PostgreSQL is down', () => {
  test('every role waits for it, says so in one line, and starts once it answers', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.close());
    await createTemplate(server.url);
    const database = await createTestDatabase(server.url);
    await database.close();
    await server.stop('SIGINT');
    const { port, password } = new URL(database.url);
    const all = ['api', 'worker', 'indexer'].map((role) => startMain(database.url, { ROLES: role }));
    await Promise.all(all.map((each) => each.until(/does not answer yet/)));

    // A person reads at once what a command has met.
    const migrate = startProcess(['src/cli.ts', 'migrate'], processSettings(database.url));
    expect(await migrate.ended).toBe(1);
    expect(migrate.output()).toMatch(
      `PostgreSQL at 127.0.0.1:${port} cannot be reached (connect ECONNREFUSED 127.0.0.1:${port}). Check that it runs, and host and port in DATABASE_URL.`,
    );

    await server.start();
    await Promise.all(all.map((each) => each.until(/service started/)));
    for (const each of all) {
      each.child.kill('SIGTERM');
      expect(await each.ended).toBe(0);
      const warned = each.output().match(/^.*"level":"(?:warn|error|fatal)".*$/gm);
      expect(warned).toEqual([expect.stringContaining(`"server":"127.0.0.1:${port}"`)]);
      expect(each.output() + migrate.output()).not.toContain(`:${password}@`);
    }
  });

  test('a process that waits ends at the first signal', async () => {
    const url = `postgres://me:pass-word@127.0.0.1:${await freePort()}/db`;
    const main = startMain(url);
    await main.until(/does not answer yet/);
    main.child.kill('SIGTERM');
    expect(await main.ended).toBe(143);
  });
});

describe('the wait for PostgreSQL', () => {
  const log = createLogger({ level: 'silent' });

  test('ends with the host and port in DATABASE_URL, and without the password', async () => {
    const port = await freePort();
    const url = `postgres://me:pass-word@127.0.0.1:${port}/db`;
    const waited = untilServerAnswers({ url, log, patienceMs: 1_000 });
    await expect(waited).rejects.toThrow(
      `PostgreSQL at 127.0.0.1:${port} has not answered for 1 s (connect ECONNREFUSED 127.0.0.1:${port}): check that it runs, and host and port in DATABASE_URL.`,
    );
    const socket = 'postgres://me:pass-word@/db?host=/nowhere';
    await expect(untilServerAnswers({ url: socket, log, patienceMs: 0 })).rejects.toThrow(
      /^PostgreSQL at \/nowhere:5432 has not answered for 0 s \(connect ENOENT/,
    );
  });

  test('ends at once where another try would mend nothing', async () => {
    const url = new URL(inject('postgresUrl'));
    url.password = 'pass-word';
    await expect(untilServerAnswers({ url: url.href, log })).rejects.toThrow(
      'password authentication failed',
    );
    url.href = inject('postgresUrl');
    url.pathname = '/none';
    await expect(untilServerAnswers({ url: url.href, log })).rejects.toThrow(
      'database "none" does not exist',
    );
  });
});
