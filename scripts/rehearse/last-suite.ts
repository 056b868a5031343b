import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { checkOutRelease, findOldestRelease } from '../../test/support/oldest-release.ts';
import type { Report } from './report.ts';

const root = path.join(import.meta.dirname, '../..');

/** What works with the schema. The rest of its tests check other things, or the schema as it was. */
const parts = ['rwa', 'events', 'blockchain', 'keys', 'http', 'indexer', 'jobs', 'minting'];
// It lists the tables of its own schema.
const ofOldSchema = 'test/indexer/distribution.test.ts';
// They name indexes that others have replaced; the rest of their files says that every statement is read by an index.
const ofOldIndexes = [
  'and a page of them is read in order, without sorting',
  'reads a page of the newest events without sorting',
];
const importedByMigrations = [
  'src/db/connection/statements.ts',
  'src/db/schema/build-indexes.ts',
  'src/db/schema/forward-only.ts',
];
const limitMs = 1_200_000;

/** Runs the suite of the oldest release of the schema range, with its own code, over the schema that the present migrations make. */
export async function rehearseLastSuite(report: Report): Promise<void> {
  const last = findOldestRelease();
  if (typeof last === 'string') throw new Error(`No release to try: ${last}`);
  const release = checkOutRelease(last);
  try {
    const migrations = path.join(release.folder, 'migrations');
    await rm(migrations, { recursive: true });
    await cp(path.join(root, 'migrations'), migrations, { recursive: true });
    for (const file of importedByMigrations) await cp(path.join(root, file), path.join(release.folder, file));
    for (const part of parts)
      await report(`the tests of ${release.version} in test/${part} pass over the present schema`, () =>
        runTests(release.folder, part),
      );
  } finally {
    release.remove();
  }
}

async function runTests(cwd: string, part: string): Promise<void> {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  // Some measure times, on machines that have other things to do.
  const config = ['--config', 'test/vitest.config.ts', '--retry', '2'];
  const left = ['--exclude', ofOldSchema, '--testNamePattern', `^(?!.*(${ofOldIndexes.join('|')}))`];
  const words = [vitest, 'run', ...config, ...left, `test/${part}/`];
  const child = spawn(process.execPath, words, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => {
      written += piece.toString();
    });
  const [status] = await once(child, 'close');
  const counts = /^.*\bTests\b.*$/m.exec(written)?.[0].trim() ?? '';
  if (status !== 0) throw new Error(`${counts}\n${written.slice(-20_000)}`);
  process.stdout.write(`  ${counts}\n`);
}
