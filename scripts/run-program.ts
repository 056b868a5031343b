import { execFile } from 'node:child_process';

export type ProgramOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
};

/**
 * Runs a program to its end.
 * @returns what it wrote
 * @throws Error with what it wrote, when it fails or takes longer than two minutes or the given time
 */
export function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env = process.env, timeoutMs = 120_000 }: ProgramOptions = {},
): Promise<string> {
  const options = { cwd, env, timeout: timeoutMs, maxBuffer: 64e6 };
  return new Promise((resolve, reject) => {
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else
        reject(new Error(`${command} ${args.join(' ')}: ${error.code ?? error.signal}\n${stdout}${stderr}`));
    });
  });
}
