import { errorText } from '../../src/base/thrown.ts';
import { runProgram } from '../run-program.ts';

export type Outcome = { readonly ok: boolean; readonly output: string };

type Command = {
  /** Node by default. */
  readonly program?: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
};

// The first compilation of a client fetches what it needs, and on a busy machine that takes its time.
const timeoutMs = 600_000;

/** Runs a program to its end, at most ten minutes. Never rejects. */
export async function run({ program = process.execPath, args, cwd, env }: Command): Promise<Outcome> {
  const options = { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, timeoutMs };
  try {
    return { ok: true, output: await runProgram(program, args, options) };
  } catch (error) {
    return { ok: false, output: errorText(error) };
  }
}

/** A program and its arguments. */
export type Words = readonly [program: string, ...args: string[]];

/** Runs programs one after the other until one fails. @returns the outcome of the last */
export async function runAll(
  commands: readonly Words[],
  options: Pick<Command, 'cwd' | 'env'>,
): Promise<Outcome> {
  let last: Outcome = { ok: true, output: '' };
  for (const [program, ...args] of commands) {
    last = await run({ program, args, ...options });
    if (!last.ok) break;
  }
  return last;
}
