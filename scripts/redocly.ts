import { join, resolve } from 'node:path';
import type { Diff } from './contract/breaks.ts';
import { runProgram } from './run-program.ts';

const root = resolve(import.meta.dirname, '..');
const program = join(root, 'node_modules/@redocly/cli/bin/cli.js');

/** Runs a command of Redocly in the folder of the project. @returns its standard output @throws Error with what it wrote */
export function runRedocly(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return runProgram(process.execPath, [program, ...args], { cwd: root, env });
}

/** Compares two documents. */
export async function diffDocuments(before: string, after: string): Promise<Diff['changes']> {
  const options = ['--config', 'openapi/diff.yaml', '--format', 'json', '--fail-on', 'none'];
  return JSON.parse(await runRedocly('diff', before, after, ...options)).changes;
}
