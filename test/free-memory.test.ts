import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import packageFile from '../package.json' with { type: 'json' };

const run = promisify(execFile);
const program = join(import.meta.dirname, 'support/memory-peak.ts');

test('a process gives back what a peak has left free, started as it is operated', async () => {
  const options = packageFile.scripts.serve.split(' ').filter((word) => word.startsWith('--'));
  const { stdout } = await run(process.execPath, [...options, program]);
  const { peak, after } = JSON.parse(stdout);
  expect(peak).toBeGreaterThan(500);
  expect(after).toBeLessThan(peak / 2);
});
