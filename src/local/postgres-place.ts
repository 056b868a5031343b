import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { copyForAll } from './copy-for-all.ts';
import { errorCode, LocalError } from './local-error.ts';
import { postgresFolder } from './programs.ts';

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
 * Finds a place for data in `wanted`. PostgreSQL refuses to run as root, so for root it runs as nobody; where
 * nobody may not enter the clone or `wanted` (a folder below /root, say), programs and data move to a shelter
 * in a temporary folder that lasts, whose name follows from `wanted`.
 * @throws LocalError when there is no such place
 */
export function findPostgresPlace(wanted: string): PostgresPlace {
  const programs = postgresFolder();
  if (process.getuid?.() !== 0) {
    makeOwn(wanted, undefined);
    return { programs, data: path.join(wanted, 'data'), identity: undefined };
  }
  const identity = nobody();
  makeOwn(wanted, identity);
  const entered = canWork(wanted, identity);
  const runs = canRun(programs, identity);
  if (entered && runs) return { programs, data: path.join(wanted, 'data'), identity };
  const shelter = openShelter(wanted, identity);
  return {
    programs: runs ? programs : copyPrograms(programs, shelter, identity),
    data: path.join(entered ? wanted : path.join(shelter, 'postgres'), 'data'),
    identity,
  };
}

/** Where the data of `wanted` may lie: a running server is known by it. */
export function possibleData(wanted: string): string[] {
  const sheltered = shelterNames(wanted).map((shelter) => path.join(shelter, 'postgres'));
  return [wanted, ...sheltered].map((folder) => path.join(folder, 'data'));
}

/** Removes the data and the shelter of `wanted`, if there are any. */
export function removePostgresPlace(wanted: string): void {
  for (const folder of [wanted, ...shelterNames(wanted)]) {
    if (ownerOf(folder) === process.getuid?.() || folder === wanted) {
      rmSync(folder, { recursive: true, force: true });
    }
  }
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

// /var/tmp outlasts a restart of the machine, /tmp may not.
function shelterNames(wanted: string): string[] {
  const mark = createHash('sha256').update(path.resolve(wanted)).digest('hex').slice(0, 16);
  return [...new Set(['/var/tmp', tmpdir()])].map((parent) => path.join(parent, `tallystick-${mark}`));
}

function openShelter(wanted: string, identity: Identity): string {
  for (const shelter of shelterNames(wanted)) {
    try {
      mkdirSync(shelter, { mode: 0o755 });
    } catch (error) {
      // Somebody else's folder of this name is a trap.
      if (errorCode(error) !== 'EEXIST' || ownerOf(shelter) !== 0) continue;
    }
    chmodSync(shelter, 0o755);
    const inside = path.join(shelter, 'postgres');
    makeOwn(inside, identity);
    if (canWork(inside, identity)) return shelter;
  }
  throw new LocalError(
    'PostgreSQL refuses to run as root, and the user nobody can enter neither this folder nor a temporary one. Start as an ordinary user.',
  );
}

function copyPrograms(programs: string, shelter: string, identity: Identity): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(path.join(programs, '..', 'package.json'), 'utf8'),
  );
  const copy = path.join(shelter, `programs-${version}`);
  if (canRun(copy, identity)) return copy;
  rmSync(copy, { recursive: true, force: true });
  copyForAll(programs, `${copy}.part`);
  renameSync(`${copy}.part`, copy);
  if (canRun(copy, identity)) return copy;
  throw new LocalError(
    'PostgreSQL refuses to run as root, and the user nobody cannot run programs in a temporary folder. Start as an ordinary user.',
  );
}

function ownerOf(folder: string): number | undefined {
  try {
    const found = lstatSync(folder);
    return found.isDirectory() ? found.uid : undefined;
  } catch {
    return undefined;
  }
}
