import { errorText } from '../src/base/thrown.ts';

/**
 * Runs a script whose `main` gives its exit status; an error becomes a line and 1. A signal ends it, and with it what
 * its `exit` listeners end.
 */
export async function runScript(main: () => Promise<number>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n`);
    process.exitCode = 1;
  }
}
