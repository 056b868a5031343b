import type { TestProject } from 'vitest/node';
import { startLocalInstance } from '../../../scripts/local-instance.ts';
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

/** `npm start` in a directory of its own, with a new sample world and the portal of these sources. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  reportTools();
  const { credentials, output, stop } = await startLocalInstance();
  const { baseUrl, rpcUrl, databaseUrl, keys } = credentials;
  project.provide('live', { baseUrl, rpcUrl, databaseUrl, key: keys.acme });
  project.provide('printed', output);
  // Before any test changes the world.
  const isCurlThere = tools.curl !== undefined;
  project.provide('readme', isCurlThere ? await readmeAnswers({ baseUrl, key: keys.acme }) : []);
  return stop;
}
