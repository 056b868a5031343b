import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { errorCode } from '../../base/thrown.ts';
import { LocalError } from './local-error.ts';
import { removePostgresPlace } from './postgres-place.ts';

/** The paths of everything that is kept in `.local`. */
export type LocalFolder = {
  readonly lock: string;
  readonly postgres: string;
  readonly postgresLog: string;
  readonly chain: string;
  /** Ports and secrets of the local programs. */
  readonly settings: string;
  /** Describes the sample. The file is written last, so where it is everything else is complete. */
  readonly sample: string;
  /** For people and their programs. */
  readonly credentials: string;
};

const folderOf = (directory: string) => path.join(path.resolve(directory), '.local');

/** The paths below `.local` in a directory, whether they exist or not. */
export function localFolder(directory: string): LocalFolder {
  const at = (name: string) => path.join(folderOf(directory), name);
  return {
    lock: at('lock'),
    postgres: at('postgres'),
    postgresLog: at('postgres.log'),
    chain: at('chain'),
    settings: at('settings.json'),
    sample: at('world.json'),
    credentials: at('credentials.json'),
  };
}

/**
 * Opens `.local` in a directory, and creates it if it is missing.
 * @throws LocalError when nothing can be written there
 */
export function openLocalFolder(directory: string): LocalFolder {
  const folder = folderOf(directory);
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o755 });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new LocalError(
      `No permission to write in ${folder} (${errorCode(cause)}). Start as the user it belongs to, or work in a folder of your own.`,
      { cause },
    );
  }
  return localFolder(directory);
}

/** Removes everything that the folder keeps, but not the lock and no file of somebody else. */
export function emptyLocalFolder(folder: LocalFolder): void {
  // The file of completeness goes first: the next start then finishes an interrupted removal.
  for (const file of [folder.sample, folder.credentials, folder.settings]) rmSync(file, { force: true });
  rmSync(folder.chain, { recursive: true, force: true });
  removePostgresPlace(folder.postgres);
  rmSync(folder.postgresLog, { force: true });
}

/** Whether an earlier start has left anything. */
export function hasRemains(folder: LocalFolder): boolean {
  return [folder.sample, folder.settings, folder.chain].some((name) => existsSync(name));
}

/** Writes a file that only this user may read: complete or not at all. */
export function writeJson(file: string, content: unknown): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.part`, file);
}

/** The content of a file; undefined when the file is missing. @throws LocalError when it is not JSON */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw new LocalError(`${file} cannot be read. Start again with: npm start -- --fresh`, { cause });
  }
}
