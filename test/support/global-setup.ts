import type { TestProject } from 'vitest/node';
import { createDatabase } from '../../src/db/connect.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { createLogger } from '../../src/log.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One Postgres for the run, with one migrated template that every test file clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  const log = createLogger({ level: 'silent' });
  const admin = createDatabase(postgres.url, { poolMax: 1, log });
  await admin.raw('CREATE DATABASE tallystick_template');
  await admin.destroy();
  const template = createDatabase(withDatabase(postgres.url, 'tallystick_template'), { poolMax: 2, log });
  await migrateToLatest(template);
  await template.destroy();
  project.provide('postgresUrl', postgres.url);
  return () => postgres.close();
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
