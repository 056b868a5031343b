import { readFileSync } from 'node:fs';
import { runCommandLine } from '../cli/program.ts';
import { createPrompt } from '../cli/shared/prompt.ts';
import { readClientSettings } from '../config/client-settings.ts';
import { loadConfig } from '../config/config.ts';
import { gatherSettings } from '../config/settings-file.ts';
import { readLocalClient, readLocalSettings } from '../local/settings.ts';
import { openSecretSettings } from '../service/secret-settings.ts';

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

// A reader such as head closes the pipe when it has enough. That ends the command and is no failure.
process.stdout.on('error', (error) => {
  if ('code' in error && error.code === 'EPIPE') process.exit(1);
  throw error;
});

// Not process.exit, which would discard output that is still on its way to a pipe.
process.exitCode = await runCommandLine(
  {
    version,
    loadClientSettings: ({ local }) => (local ? readLocalClient() : readClientSettings(process.env)),
    stdin: process.stdin,
    loadConfig: async ({ local, settings }) =>
      loadConfig(
        local ? readLocalSettings() : await openSecretSettings(gatherSettings(process.env, settings)),
      ),
    environment: process.env,
    prompt: createPrompt({ input: process.stdin, output: process.stderr }),
    stdout: process.stdout,
    stderr: process.stderr,
    onInterrupt(listener) {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
      const stopWaiting = () => {
        for (const signal of signals) process.off(signal, onSignal);
      };
      // The command handles the first signal; the next one ends the process.
      const onSignal = () => {
        stopWaiting();
        listener();
      };
      for (const signal of signals) process.on(signal, onSignal);
      return stopWaiting;
    },
  },
  process.argv.slice(2),
);
