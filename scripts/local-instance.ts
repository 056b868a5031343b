import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Credentials } from '../src/local/credentials.ts';
import { removePostgresPlace } from '../src/local/programs/postgres-place.ts';

const entry = resolve(import.meta.dirname, '../src/main.ts');
const deadlineMs = 120_000;

export type LocalInstance = {
  readonly credentials: Credentials;
  /** What it printed until it was ready. */
  readonly output: string;
  /** Ends the service and removes its folder. */
  stop(): Promise<void>;
};

/**
 * Starts the whole service with its sample world, as `npm start` does, on a free port and in a folder of its own.
 * @throws Error with what the service wrote, when it is not ready in two minutes
 */
export async function startLocalInstance(): Promise<LocalInstance> {
  const directory = await mkdtemp(join(tmpdir(), 'tallystick-instance-'));
  const child = spawn(process.execPath, [entry, '--local'], {
    cwd: directory,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const endWithUs = () => child.kill();
  process.once('exit', endWithUs);
  const stop = async () => {
    process.off('exit', endWithUs);
    child.kill();
    await ended;
    removePostgresPlace(join(directory, '.local/postgres'));
    await rm(directory, { recursive: true, force: true });
  };
  let written = '';
  const { promise: ready, resolve: setReady } = Promise.withResolvers<boolean>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text;
      if (/Ctrl-C stops it/.test(written)) setReady(true);
    });
  }
  const timer = setTimeout(() => setReady(false), deadlineMs);
  void ended.then(() => setReady(false));
  const isReady = await ready;
  clearTimeout(timer);
  if (!isReady) {
    await stop();
    throw new Error(`The local service did not start:\n${written}`);
  }
  const credentials: Credentials = JSON.parse(
    await readFile(join(directory, '.local/credentials.json'), 'utf8'),
  );
  return { credentials, output: written, stop };
}
