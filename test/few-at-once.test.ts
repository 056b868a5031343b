import { expect, test } from 'vitest';
import { mapFewAtOnce } from '../src/base/few-at-once.ts';

test('work is done for so many items at once, and its results stand in their order', async () => {
  let [running, most] = [0, 0];
  const results = await mapFewAtOnce([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < 8 - item; turn += 1) await Promise.resolve();
    running -= 1;
    return item * 10;
  });
  expect(results).toEqual([10, 20, 30, 40, 50, 60, 70]);
  expect(most).toBe(3);
});

test('no further item is begun after a failure', async () => {
  const begun: number[] = [];
  const mapped = mapFewAtOnce([1, 2, 3, 4, 5, 6], 2, async (item) => {
    begun.push(item);
    await Promise.resolve();
    throw new Error('overloaded');
  });
  await expect(mapped).rejects.toThrow('overloaded');
  expect(begun).toEqual([1, 2]);
});
