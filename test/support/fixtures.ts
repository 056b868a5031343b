import { test as base } from 'vitest';
import { type ChainOptions, startChain } from './chain.ts';
import { createTestDatabase } from './database.ts';
import { startServiceOn } from './service.ts';
import type { ServiceOptions } from './serving.ts';

/** The scope of a fixture that is created once for each test file and closed at the end of the file. */
export const perFile = { scope: 'file' } as const;

const defaultServiceOptions: ServiceOptions = {};
const defaultChainOptions: ChainOptions = {};

/**
 * The test function with the parts that most files need. A part starts when the first test or `test.beforeAll`
 * of a file asks for it, and closes at the end of the file, also after failures:
 * - `database`, `db`, `databaseUrl`: a migrated database; `otherDatabase`: a second one
 * - `service`: the whole service on that database; `acme`, `globex`, `anyone`: its clients with the key of that
 *   company, or without a key
 * - `chain`: a local chain, not known to the service unless `serviceOptions` name its URL
 *
 * A file sets options with `testWith`, or with `test.extend` where they depend on another fixture. It must not use
 * `test.override`: test files share modules, so an override would reach the files that run later.
 */
export const test = base
  .extend('serviceOptions', perFile, defaultServiceOptions)
  .extend('database', perFile, async ({ serviceOptions }, { onCleanup }) => {
    const database = await createTestDatabase(serviceOptions.postgresUrl);
    onCleanup(() => database.close());
    return database;
  })
  .extend('otherDatabase', perFile, async ({ serviceOptions }, { onCleanup }) => {
    const database = await createTestDatabase(serviceOptions.postgresUrl);
    onCleanup(() => database.close());
    return database;
  })
  .extend('db', perFile, ({ database }) => database.db)
  .extend('databaseUrl', perFile, ({ database }) => database.url)
  .extend('service', perFile, async ({ database, serviceOptions }, { onCleanup }) => {
    const service = await startServiceOn(database, serviceOptions);
    onCleanup(() => service.close());
    return service;
  })
  .extend('acme', perFile, ({ service }) => service.as(service.keys.acme))
  .extend('globex', perFile, ({ service }) => service.as(service.keys.globex))
  .extend('anyone', perFile, ({ service }) => service.as())
  .extend('chainOptions', perFile, defaultChainOptions)
  .extend('chain', perFile, async ({ chainOptions }, { onCleanup }) => {
    const chain = await startChain(chainOptions);
    onCleanup(() => chain.close());
    return chain;
  });

/** The same test function with a service of these options. */
export function testWith(options: ServiceOptions) {
  return test.extend('serviceOptions', perFile, options);
}
