import { vi } from 'vitest';

/**
 * What decoding hex costs in the meantime: a step for each byte that is decoded by ethers, which parses each by itself, or by
 * Node.
 */
export async function stepsOf(work: () => unknown): Promise<number> {
  let steps = 0;
  const { parseInt: parse } = globalThis;
  vi.stubGlobal('parseInt', (text: string, radix?: number) => {
    steps += 1;
    return parse(text, radix);
  });
  const from = vi.spyOn(Buffer, 'from');
  try {
    await work();
    for (const { value } of from.mock.results) steps += value.length;
  } finally {
    from.mockRestore();
    vi.unstubAllGlobals();
  }
  return steps;
}
