import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

/** Makes a folder that is deleted after the tests of the file that asks for it while it is read. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-test-'));
  afterAll(() => rm(folder, { recursive: true }));
  return folder;
}
