import { execFile } from 'node:child_process';

export type Outcome = { readonly ok: boolean; readonly output: string };

export type Command = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs a JavaScript program to its end, at most three minutes. Never rejects. */
export function runNode({ args, cwd, env = {} }: Command): Promise<Outcome> {
  const options = {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...env },
    maxBuffer: 64e6,
    timeout: 180_000,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: `${stdout}${stderr}`.trim() }),
    );
  });
}
