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

export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
