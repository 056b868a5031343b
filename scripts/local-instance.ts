import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Credentials } from '../src/local/credentials.ts';
import { removePostgresPlace } from '../src/local/programs/postgres-place.ts';
import { startProcess } from '../test/support/process.ts';

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
  const service = startProcess([entry, '--local'], { PORT: '0' }, { cwd: directory });
  const stop = async () => {
    service.child.kill();
    await service.ended;
    removePostgresPlace(join(directory, '.local/postgres'));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await service.until(/Ctrl-C stops it/, deadlineMs);
    const credentials = JSON.parse(await readFile(join(directory, '.local/credentials.json'), 'utf8'));
    return { credentials, output: service.output(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
