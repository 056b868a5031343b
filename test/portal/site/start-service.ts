import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { makeDirectory, readCredentials, removeDirectory } from '../../local/local-run.ts';
import { killAtExit } from '../../support/kill-at-exit.ts';
import { type ReadmeAnswer, readmeAnswers } from './readme.ts';
import { reportTools, tools } from './tools.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the service with the sample world and its chain listen, its database, and the key of its company acme. */
    live: {
      readonly baseUrl: string;
      readonly rpcUrl: string;
      readonly key: string;
      readonly databaseUrl: string;
    };
    /** What `npm start` printed until it was ready. */
    printed: string;
    /** What the README shows of a new world, and what that answers; nothing where there is no curl. */
    readme: ReadmeAnswer[];
  }
}

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

/** `npm start` in a directory of its own, with a new sample world and the portal of these sources. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  reportTools();
  const directory = await makeDirectory();
  const child = spawn(process.execPath, [main, '--local'], {
    cwd: directory,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killAtExit(child);
  const ended = once(child, 'exit');
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      if (printed.includes('Ctrl-C stops it')) resolve();
    });
    child.once('exit', () => reject(new Error('the service did not start')));
  });
  const { baseUrl, rpcUrl, databaseUrl, keys } = await readCredentials(directory);
  project.provide('live', { baseUrl, rpcUrl, databaseUrl, key: keys.acme });
  project.provide('printed', printed);
  // Before any test changes the world.
  const isCurlThere = tools.curl !== undefined;
  project.provide('readme', isCurlThere ? await readmeAnswers({ baseUrl, key: keys.acme }) : []);
  return async () => {
    child.kill('SIGTERM');
    await ended;
    await removeDirectory(directory);
  };
}
