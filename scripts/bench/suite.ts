type SuiteOptions = { readonly isQuick: boolean; readonly say: (line: string) => void };

/**
 * Something that can be measured. Its figures become the last line of the run; `ok` is there where limits
 * are held, and false ends the run as failed.
 */
export type Suite = {
  readonly about: string;
  readonly run: (options: SuiteOptions) => Promise<Figures>;
};

type Figures = Readonly<Record<string, unknown>> & { readonly ok?: boolean };

/**
 * Runs the work again and again and gives the microseconds that one run takes: the fastest of seven
 * rounds after a warm-up, because other work on the machine makes rounds slow, never fast.
 */
export async function measure(work: () => unknown, runs: number): Promise<number> {
  const round = async () => {
    const started = performance.now();
    for (let index = 0; index < runs; index += 1) await work();
    return ((performance.now() - started) * 1_000) / runs;
  };
  await round();
  const times: number[] = [];
  for (let index = 0; index < 7; index += 1) times.push(await round());
  return Math.min(...times);
}

export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
