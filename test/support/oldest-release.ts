import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { schemaRange } from '../../src/db/schema/schema-range.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export type Release = {
  readonly version: string;
  /** The folder with its files, over the packages that are installed here. */
  readonly folder: string;
  remove(): void;
};

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/**
 * Finds the commit that made the oldest release which may run on this schema, since the newer ones may, too.
 * @returns why there is none, in words, where it is not here
 */
export function findOldestRelease(): { commit: string; version: string } | string {
  const version = schemaRange.oldestRelease;
  try {
    const subject = `^docs: make release ${version.replaceAll('.', String.raw`\.`)}$`;
    const commit = git('log', '-1', '--format=%H', `--grep=${subject}`);
    if (commit !== '') return { commit, version };
    const isShallow = git('rev-parse', '--is-shallow-repository') === 'true';
    return isShallow ? `the clone is shallow and has no commit of ${version}` : `no commit made ${version}`;
  } catch (error) {
    return `git does not answer: ${error instanceof Error ? error.message : error}`;
  }
}

/**
 * Writes the files of a release to a temporary folder, which `remove` deletes. It has the packages of this one: what the
 * release needs and this one does not, such as ws, stays one of development as long as it may run.
 */
export function checkOutRelease({ commit, version }: { commit: string; version: string }): Release {
  const folder = mkdtempSync(path.join(tmpdir(), 'tallystick-release-'));
  const archive = path.join(folder, 'release.tar');
  git('archive', '--output', archive, commit);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  const packages = path.join(root, 'node_modules');
  if (!existsSync(packages)) throw new Error(`no packages in ${packages}`);
  symlinkSync(packages, path.join(folder, 'node_modules'));
  return { version, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
