import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createShutdown } from '../../src/compose/shutdown.ts';

let lines: { readonly msg: string; readonly phase: string; readonly ms?: number; readonly err?: Error }[];
let events: string[];

const log = createLogger({
  level: 'info',
  destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
});
const ending = (name: string) => async (graceMs: number) => {
  events.push(`${name} begins with ${graceMs}`);
  await pause(5);
  events.push(`${name} ends`);
};
const limits = { requests: 50, background: 50, connections: 50 };

beforeEach(() => {
  lines = [];
  events = [];
});

describe('an orderly stop', () => {
  test('runs phases in their order, whatever the order of registration, and what one holds side by side', async () => {
    const shutdown = createShutdown(limits, log);
    shutdown.add('connections', 'database', ending('database'));
    shutdown.add('requests', 'listener', ending('listener'));
    shutdown.add('requests', 'lanes', ending('lanes'));
    await shutdown.run(7);
    expect(events).toEqual([
      'listener begins with 7',
      'lanes begins with 7',
      'listener ends',
      'lanes ends',
      'database begins with 7',
      'database ends',
    ]);
  });

  test('logs each phase with the time that it took', async () => {
    const shutdown = createShutdown(limits, log);
    shutdown.add('background', 'jobs', ending('jobs'));
    await shutdown.run(0);
    expect(lines.map(({ msg, phase }) => `${msg}: ${phase}`)).toEqual([
      'stop phase ended: requests',
      'stop phase ended: background',
      'stop phase ended: connections',
    ]);
    expect(lines[1]?.ms).toBeGreaterThanOrEqual(4);
  });
});

describe('an ending that fails', () => {
  const run = async () => {
    const shutdown = createShutdown(limits, log);
    shutdown.add('requests', 'listener', () => Promise.reject(new Error('the socket is gone')));
    shutdown.add('requests', 'lanes', ending('lanes'));
    shutdown.add('background', 'jobs', () => new Promise(() => {}));
    shutdown.add('background', 'indexes', ending('indexes'));
    shutdown.add('connections', 'database', () => {
      throw new Error('the pool is closed already');
    });
    return shutdown.run(0).then(
      () => undefined,
      (error: unknown) => error,
    );
  };
  const reasons = [
    'listener: the socket is gone',
    'jobs: not over after 50 ms',
    'database: the pool is closed already',
  ];

  test('keeps no other from running: not beside it and not after it, whether it rejects or hangs', async () => {
    await run();
    expect(events).toEqual(['lanes begins with 0', 'lanes ends', 'indexes begins with 0', 'indexes ends']);
  });

  test('is named by itself where a stack holds several', async () => {
    const opened = new AsyncDisposableStack();
    opened.defer(() => Promise.reject(new Error('the pool is closed already')));
    opened.defer(() => Promise.reject(new Error('the queue is gone')));
    const shutdown = createShutdown(limits, log);
    shutdown.add('connections', 'connections', () => opened.disposeAsync());
    await expect(shutdown.run(0)).rejects.toThrow(
      'It did not stop in order: connections: the queue is gone; connections: the pool is closed already',
    );
  });

  test('is in the log with its phase, and in the error of the whole stop', async () => {
    const error = await run();
    const failed = lines.filter(({ msg }) => msg === 'stop phase failed');
    expect(failed.map(({ phase }) => phase)).toEqual(['requests', 'background', 'connections']);
    expect(failed.map(({ err }) => err?.message)).toEqual(
      reasons.map((reason) => expect.stringContaining(reason)),
    );
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({
      message: `It did not stop in order: ${reasons.join('; ')}`,
      errors: reasons.map((message) => expect.objectContaining({ message })),
    });
  });
});
