import { execFile } from 'node:child_process';

export type Outcome = { readonly ok: boolean; readonly output: string };

type NodeCommand = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
};

export type Command = NodeCommand & { readonly program: string };

// The first compilation of a client fetches what it needs, and on a busy machine that takes its time.
const limitMs = 600_000;

/** Runs a program to its end, at most ten minutes. Never rejects. */
export function run({ program, args, cwd, env = {} }: Command): Promise<Outcome> {
  const options = {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...env },
    maxBuffer: 64e6,
    timeout: limitMs,
  };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const late = error?.killed === true ? `It was ended after ${limitMs / 60_000} minutes.\n` : '';
      resolve({ ok: error === null, output: `${late}${stdout}${stderr}`.trim() });
    });
  });
}

/** The same for a JavaScript program. */
export const runNode = (command: NodeCommand): Promise<Outcome> =>
  run({ ...command, program: process.execPath });
