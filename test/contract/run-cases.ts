import { type ContractCase, contractCases } from './cases/all.ts';
import { createFacts } from './facts.ts';
import { type Session, Unprovoked } from './session.ts';

export type CaseResult = {
  readonly tried: ContractCase;
  readonly outcome: 'passed' | 'failed' | 'unprovoked';
  /** Why it failed, or was not provoked. */
  readonly reason: string | undefined;
  readonly seconds: number;
};

export type RunOptions = {
  readonly only?: (tried: ContractCase) => boolean;
  readonly onResult?: (result: CaseResult) => void;
};

/** Tries the cases one after another, so that what one makes never disturbs another. */
export async function runCases(session: Session, options: RunOptions = {}): Promise<readonly CaseResult[]> {
  const facts = createFacts(session);
  const results: CaseResult[] = [];
  for (const tried of contractCases.filter(options.only ?? (() => true))) {
    const started = performance.now();
    const found = await tried.run(session, facts).then(
      () => ({ outcome: 'passed', reason: undefined }) as const,
      (error: unknown) =>
        ({
          outcome: error instanceof Unprovoked ? 'unprovoked' : 'failed',
          reason: error instanceof Error ? error.message : String(error),
        }) as const,
    );
    const result = { tried, ...found, seconds: (performance.now() - started) / 1_000 };
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}
