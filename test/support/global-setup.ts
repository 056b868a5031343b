import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { uncovered } from '../contract/coverage.ts';
import { otherTests, processTests, slowTests } from '../groups.ts';
import { createTemplate, users } from './database.ts';
import { startPgbouncer } from './pgbouncer.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
    /** With PGBOUNCER=on, of a pooler in front of that server; services of tests use it. Empty otherwise. */
    poolerUrl: string;
    /** The file that lists each documented (operation, status) that a test produced, one per line. */
    coverageFile: string;
  }
}

/**
 * Starts one PostgreSQL server for the run, with a migrated template that every test file clones. After a run of
 * all files of `npm test`, fails unless they produced every documented (operation, status).
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // What a file does with its tables is over before autovacuum comes to them: it would only take time from the others,
  // and change plans and the visibility of pages in the middle of a test.
  const postgres = await startPostgres({ settings: ['autovacuum=off'] });
  await createTemplate(postgres.url);
  const pooler = process.env['PGBOUNCER'] === 'on' ? await startPgbouncer(postgres.url, users) : undefined;

  const directory = mkdtempSync(path.join(tmpdir(), 'tallystick-run-'));
  const coverageFile = path.join(directory, 'coverage');
  writeFileSync(coverageFile, '');
  project.provide('postgresUrl', postgres.url);
  project.provide('poolerUrl', pooler?.through(postgres.url) ?? '');
  project.provide('coverageFile', coverageFile);

  return async () => {
    await pooler?.close();
    await postgres.close();
    const seen = new Set(readFileSync(coverageFile, 'utf8').split('\n'));
    rmSync(directory, { recursive: true, force: true });
    if (isWholeRun(project)) reportCoverage(seen);
  };
}

/** Whether all files of `npm test` ran, with all titles; a part of them cannot cover everything. */
function isWholeRun({ vitest }: TestProject): boolean {
  const ran = new Set(vitest.state.getPaths());
  const files = globSync('test/**/*.test.ts', { exclude: [...otherTests, ...processTests, ...slowTests] });
  return files.every((file) => ran.has(path.resolve(file))) && vitest.config.testNamePattern === undefined;
}

function reportCoverage(seen: ReadonlySet<string>): void {
  const missing = uncovered(seen);
  if (missing.length === 0) {
    process.stdout.write('Every documented (operation, status) was produced by a test.\n');
    return;
  }
  process.stderr.write(
    `No test produced these documented (operation, status):\n${missing.map((pair) => `  ${pair}\n`).join('')}`,
  );
  process.exitCode = 1;
}
