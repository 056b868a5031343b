import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { openFilesLimit, withinOpenFiles } from '../../src/http/server/open-files.ts';

const log = createLogger({ level: 'silent' });
const wanted = { total: 10_000, perAddress: 1_000 };

describe('connections within what the process may open', () => {
  test('are as many as wanted where that leaves enough', () => {
    expect(withinOpenFiles(wanted, 20_000, log)).toEqual(wanted);
    expect(withinOpenFiles(wanted, Number.POSITIVE_INFINITY, log)).toEqual(wanted);
  });

  test.each([
    [10_000, { total: 9_488, perAddress: 1_000 }],
    [1_024, { total: 512, perAddress: 256 }],
    [120, { total: 60, perAddress: 30 }],
    [2, { total: 1, perAddress: 1 }],
  ])('are fewer with %s files, and no address has more than half', (openFiles, limits) => {
    expect(withinOpenFiles(wanted, openFiles, log)).toEqual(limits);
  });

  test('are counted from the limit of the process', () => {
    const program =
      "import { openFilesLimit } from './src/http/server/open-files.ts'; console.log(openFilesLimit())";
    const script = 'ulimit -n 200; exec "$0" --input-type=module -e "$1"';
    const { stdout } = spawnSync('sh', ['-c', script, process.execPath, program], { encoding: 'utf8' });
    expect(Number(stdout)).toBe(200);
    expect(openFilesLimit()).toBeGreaterThan(200);
  });
});
