import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { LocalError } from './local-error.ts';
import { postgresFolder } from './packaged-programs.ts';
import { isOurs, openTempFolders, tempFolderNames } from './temp-folder.ts';

type Identity = { readonly uid: number; readonly gid: number };

/** The files of a PostgreSQL server, and the user that runs it. */
export type PostgresPlace = {
  /** The folder with `bin`, `lib` and `share`. */
  readonly programs: string;
  /** The folder that has, or will have, the data; its parent exists and belongs to `identity`. */
  readonly data: string;
  /** The user that runs the server; undefined for the user of this process. */
  readonly identity: Identity | undefined;
};

/**
 * Finds a place for data in the folder `wanted`. PostgreSQL does not run as root, so root runs it as the user
 * nobody. Where nobody cannot enter `wanted` or the clone, such as a folder below /root, the data or a copy of
 * the programs are in a temporary folder.
 * @throws LocalError when there is no such place
 */
export function findPostgresPlace(wanted: string): PostgresPlace {
  const programs = postgresFolder();
  const identity = process.getuid?.() === 0 ? nobody() : undefined;
  makeOwn(wanted, identity);
  if (identity === undefined) return { programs, data: path.join(wanted, 'data'), identity };
  return {
    programs: canRun(programs, identity) ? programs : copiedPrograms(programs, identity),
    data: path.join(canWork(wanted, identity) ? wanted : tempFolderFor(wanted, identity), 'data'),
    identity,
  };
}

/** The paths where the data of `wanted` can be. A running server is recognised by them. */
export function possibleData(wanted: string): string[] {
  return [wanted, ...tempFolderNames(wanted).map(inside)].map((folder) => path.join(folder, 'data'));
}

/** Removes the data of `wanted` and its temporary folder, if there are any. */
export function removePostgresPlace(wanted: string): void {
  rmSync(wanted, { recursive: true, force: true });
  for (const folder of tempFolderNames(wanted).filter(isOurs)) rmSync(folder, { recursive: true });
}

function nobody(): Identity {
  const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : { uid: 65_534, gid: 65_534 };
}

function makeOwn(folder: string, identity: Identity | undefined): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid);
}

// A process of the user tries it: modes of all parents, access lists and mounts decide together.
function canWork(folder: string, identity: Identity): boolean {
  const tried = spawnSync('sh', ['-c', 'cd "$1" && test -w .', 'sh', folder], { cwd: '/', ...identity });
  return tried.status === 0;
}

function canRun(programs: string, identity: Identity): boolean {
  const words = 'test -r "$1/share/postgresql/postgres.bki" && "$1/bin/postgres" --version';
  return spawnSync('sh', ['-c', words, 'sh', programs], { cwd: '/', ...identity }).status === 0;
}

const inside = (folder: string) => path.join(folder, 'postgres');

// The temporary folder itself stays root's, so that no other user can replace it.
function tempFolderFor(wanted: string, identity: Identity): string {
  for (const folder of openTempFolders(wanted)) {
    makeOwn(inside(folder), identity);
    if (canWork(inside(folder), identity)) return inside(folder);
  }
  throw noPlace('can enter neither this folder nor a temporary one');
}

// All starts and tests of a clone share one copy. It is kept, since the next start would need it again.
function copiedPrograms(programs: string, identity: Identity): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(path.join(programs, '..', 'package.json'), 'utf8'),
  );
  for (const folder of openTempFolders(`${programs} ${version}`)) {
    const copy = path.join(folder, 'programs');
    if (!existsSync(copy)) copyOnce(programs, copy);
    if (canRun(copy, identity)) return copy;
  }
  throw noPlace('cannot run programs in a temporary folder');
}

function copyOnce(programs: string, copy: string): void {
  const part = `${copy}.${process.pid}`;
  copyForAll(programs, part);
  try {
    renameSync(part, copy);
  } catch (error) {
    // Another start has made the copy meanwhile.
    rmSync(part, { recursive: true });
    if (!existsSync(copy)) throw error;
  }
}

const noPlace = (why: string) =>
  new LocalError(`PostgreSQL refuses to run as root, and the user nobody ${why}. Start as an ordinary user.`);

/** Copies a folder so that every user can read and run its files. Static libraries are left out. */
function copyForAll(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const target = path.join(to, entry.name);
    if (entry.isDirectory()) {
      copyForAll(source, target);
    } else if (entry.isSymbolicLink()) {
      symlinkSync(readlinkSync(source), target);
    } else if (!entry.name.endsWith('.a')) {
      copyFileSync(source, target);
      chmodSync(target, 0o755);
    }
  }
}
