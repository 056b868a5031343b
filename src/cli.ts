import { readFileSync } from 'node:fs';
import { runCommandLine } from './cli/program.ts';
import { loadConfig } from './config.ts';
import { readLocalSettings } from './local/settings.ts';

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

// A reader that has seen enough, such as head, closes the pipe: that is the end, and no fault.
process.stdout.on('error', (error) => {
  if ('code' in error && error.code === 'EPIPE') process.exit(1);
  throw error;
});

// Without process.exit: what is still on its way to a pipe would be cut off.
process.exitCode = await runCommandLine(
  {
    version,
    loadConfig: ({ local }) => (local ? loadConfig(readLocalSettings()) : loadConfig()),
    stdout: process.stdout,
    stderr: process.stderr,
    onInterrupt(listener) {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
      const stopWaiting = () => {
        for (const signal of signals) process.off(signal, told);
      };
      // Only the first signal is the command's to deal with; the next one ends the process.
      const told = () => {
        stopWaiting();
        listener();
      };
      for (const signal of signals) process.on(signal, told);
      return stopWaiting;
    },
  },
  process.argv.slice(2),
);
