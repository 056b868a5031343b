import { describe, expect, test } from 'vitest';
import { createAdaptiveLimit } from '../../src/providers/indexer/follow/adaptive-limit.ts';

/** Work that counts itself and fails while it is told to. */
function createWork() {
  const seen = { running: 0, most: 0, failing: false, done: 0 };
  const work = async () => {
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    await new Promise((resolve) => setImmediate(resolve));
    seen.running -= 1;
    if (seen.failing) throw new Error('the node is overloaded');
    seen.done += 1;
  };
  return { seen, work };
}

const noPause = async () => {};

describe('the adaptive limit', () => {
  test('runs no more at once than it may, and everything in the end', async () => {
    const { seen, work } = createWork();
    const limit = createAdaptiveLimit({ most: 4, tries: 1, pause: noPause });
    await Promise.all(Array.from({ length: 100 }, () => limit.run(work)));
    expect(seen).toMatchObject({ most: 4, done: 100, running: 0 });
  });

  test('narrows to one while the other end fails, and widens again when it is well', async () => {
    const { seen, work } = createWork();
    const limit = createAdaptiveLimit({ most: 8, tries: 1, pause: noPause });
    seen.failing = true;
    await Promise.allSettled(Array.from({ length: 8 }, () => limit.run(work)));
    expect(limit.width()).toBe(1);
    seen.failing = false;
    seen.most = 0;
    await Promise.all(Array.from({ length: 6 }, () => limit.run(work)));
    expect(seen.most).toBeLessThan(8);
    await Promise.all(Array.from({ length: 200 }, () => limit.run(work)));
    expect(limit.width()).toBe(8);
  });

  test('tries again with growing pauses, and passes the last error on', async () => {
    const { seen, work } = createWork();
    const pauses: number[] = [];
    const limit = createAdaptiveLimit({
      most: 2,
      tries: 4,
      pause: async (ms) => void pauses.push(ms),
    });
    seen.failing = true;
    await expect(limit.run(work)).rejects.toThrow('the node is overloaded');
    expect(pauses).toEqual([100, 200, 400]);
  });
});
