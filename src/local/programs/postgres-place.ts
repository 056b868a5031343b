import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { copyForAll } from './copy-for-all.ts';
import { LocalError } from './local-error.ts';
import { postgresFolder } from './packaged-programs.ts';
import { isOurs, openShelters, shelterNames } from './temp-folder.ts';

type Identity = { readonly uid: number; readonly gid: number };

/** Where a PostgreSQL can run, and as whom. */
export type PostgresPlace = {
  /** The folder with `bin`, `lib` and `share`. */
  readonly programs: string;
  /** The folder that holds, or will hold, the data; its parent exists and belongs to `identity`. */
  readonly data: string;
  /** Who runs it, where it is not us. */
  readonly identity: Identity | undefined;
};

/**
 * Finds a place for data in `wanted`. PostgreSQL refuses to run as root, so for root it runs as nobody. Where
 * nobody may not enter `wanted` or the clone (a folder below /root, say), the data or a copy of the programs
 * are in a shelter.
 * @throws LocalError when there is no such place
 */
export function findPostgresPlace(wanted: string): PostgresPlace {
  const programs = postgresFolder();
  const identity = process.getuid?.() === 0 ? nobody() : undefined;
  makeOwn(wanted, identity);
  if (identity === undefined) return { programs, data: path.join(wanted, 'data'), identity };
  return {
    programs: canRun(programs, identity) ? programs : copiedPrograms(programs, identity),
    data: path.join(canWork(wanted, identity) ? wanted : shelterFor(wanted, identity), 'data'),
    identity,
  };
}

/** Where the data of `wanted` may lie: a running server is known by it. */
export function possibleData(wanted: string): string[] {
  return [wanted, ...shelterNames(wanted).map(inside)].map((folder) => path.join(folder, 'data'));
}

/** Removes the data of `wanted` and its shelter, if there are any. */
export function removePostgresPlace(wanted: string): void {
  rmSync(wanted, { recursive: true, force: true });
  for (const shelter of shelterNames(wanted).filter(isOurs)) rmSync(shelter, { recursive: true });
}

function nobody(): Identity {
  const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : { uid: 65_534, gid: 65_534 };
}

function makeOwn(folder: string, identity: Identity | undefined): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid);
}

// Asked of the system itself: modes of all parents, access lists and mounts decide together.
function canWork(folder: string, identity: Identity): boolean {
  const tried = spawnSync('sh', ['-c', 'cd "$1" && test -w .', 'sh', folder], { cwd: '/', ...identity });
  return tried.status === 0;
}

function canRun(programs: string, identity: Identity): boolean {
  const words = 'test -r "$1/share/postgresql/postgres.bki" && "$1/bin/postgres" --version';
  return spawnSync('sh', ['-c', words, 'sh', programs], { cwd: '/', ...identity }).status === 0;
}

const inside = (shelter: string) => path.join(shelter, 'postgres');

// The shelter itself stays root's, so that nobody else can put anything in its place.
function shelterFor(wanted: string, identity: Identity): string {
  for (const shelter of openShelters(wanted)) {
    makeOwn(inside(shelter), identity);
    if (canWork(inside(shelter), identity)) return inside(shelter);
  }
  throw noPlace('can enter neither this folder nor a temporary one');
}

// One copy for all worlds and tests of a clone; it stays, as the next start would make it again.
function copiedPrograms(programs: string, identity: Identity): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(path.join(programs, '..', 'package.json'), 'utf8'),
  );
  for (const shelter of openShelters(`${programs} ${version}`)) {
    const copy = path.join(shelter, 'programs');
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
    // Another start was quicker.
    rmSync(part, { recursive: true });
    if (!existsSync(copy)) throw error;
  }
}

const noPlace = (why: string) =>
  new LocalError(`PostgreSQL refuses to run as root, and the user nobody ${why}. Start as an ordinary user.`);
