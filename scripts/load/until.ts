import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until something is so.
 * @returns after how many milliseconds
 * @throws Error that names what there still is when the patience is over
 */
export async function until(
  isSo: () => Promise<boolean> | boolean,
  otherwise: string,
  patienceMs = 120_000,
): Promise<number> {
  const begun = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begun > patienceMs)
      throw new Error(`After ${patienceMs / 1_000} s there are ${otherwise}.`);
    await pause(100);
  }
  return Math.round(performance.now() - begun);
}
