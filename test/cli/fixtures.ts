import { asUser } from '../support/database.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { commandLine, settingsFor } from './command-line.ts';

/** Tests of the command line over the database of their file; `run` and `json` use its `settings`. */
export const test = base
  .extend('settings', perFile, ({ databaseUrl }) => settingsFor(asUser(databaseUrl, 'test_operator')))
  .extend('run', perFile, ({ settings }) => commandLine(settings).run)
  .extend('json', perFile, ({ settings }) => commandLine(settings).json);
