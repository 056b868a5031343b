import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger } from '../../src/base/log.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { findPostgresPlace } from '../../src/local/programs/postgres-place.ts';
import {
  type BenchChain,
  type BenchSigners,
  createSigners,
  startBenchChain,
} from '../bench/mint/bench-chain.ts';
import { type DatabaseServer, serveDatabase } from '../load/database-server.ts';
import { worldKey } from '../load/world.ts';
import { createReleaseWorld, runCommand } from './release-world.ts';
import { runProgram } from './run-program.ts';
import { type Fleet, startFleet } from './upgrade-fleet.ts';

const root = path.join(import.meta.dirname, '../..');
const quickFinality = ['--slots-in-an-epoch', '1'];

type Settings = Readonly<Record<string, string>>;

/** What this release is operated over: a chain, signers, and servers for its database. */
export type Scene = {
  readonly folder: string;
  readonly chain: BenchChain;
  readonly signers: BenchSigners;
  /** Starts another PostgreSQL, which is empty. */
  serve(name: string): Promise<DatabaseServer>;
  /** Settings of every process over a database. */
  settingsOf(url: string): Settings;
  /** For commands over a database, which know the signers as well. */
  of(url: string): { readonly release: string; readonly settings: Settings };
  /** Starts the service over a database. @param signers settings of its worker; all signers by default */
  start(url: string, signers?: Settings): Promise<Fleet>;
  openDatabase(url: string): Database;
};

/**
 * @param opened stops and removes all of it
 * @param options.signers how many
 * @param options.programs folder of another PostgreSQL than the packaged one
 */
export async function openScene(
  opened: AsyncDisposableStack,
  { signers: count, programs }: { readonly signers: number; readonly programs?: string },
): Promise<Scene> {
  const folder = opened.adopt(await mkdtemp(path.join(tmpdir(), 'tallystick-rehearsal-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  // As root a server runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  const signers = await createSigners(folder, count);
  const chain = opened.adopt(await startBenchChain(folder, signers.addresses, quickFinality), (running) =>
    running.stop(),
  );
  const key = `load:${worldKey.toString('base64')}`;
  const settingsOf = (url: string) => ({
    ...{ DATABASE_URL: url, SECRET_KEYS: key, CURSOR_KEYS: key, CLAIM_BASE_URL: 'https://c.example/c' },
  });
  return {
    ...{ folder, chain, signers, settingsOf },
    async serve(name) {
      const own = path.join(folder, name);
      await mkdir(own, { mode: 0o755 });
      const place = { ...findPostgresPlace(path.join(own, 'postgres')), ...(programs && { programs }) };
      return opened.adopt(await serveDatabase(own, place), (server) => server.close());
    },
    of: (url) => ({ release: root, settings: { ...settingsOf(url), ...signers.settings } }),
    start: async (url, own = signers.settings) =>
      opened.adopt(
        await startFleet({ folder, release: root, settings: settingsOf(url), signers: own }),
        (fleet) => fleet.stop(),
      ),
    openDatabase: (url) =>
      opened.adopt(createDatabase(url, { poolMax: 2, log: createLogger({ level: 'silent' }) }), (db) =>
        db.destroy(),
      ),
  };
}

/** A scene whose database can be dumped, with what callers of the service work with in the first of its servers. */
export async function openDumpedScene(opened: AsyncDisposableStack) {
  const scene = await openScene(opened, { signers: 1, ...(await findPrograms()) });
  const { chain, of } = scene;
  const first = await scene.serve('first');
  await runCommand(of(first.url), 'migrate');
  const world = await createReleaseWorld({
    ...of(first.url),
    rpcUrl: chain.rpcUrl,
    contract: chain.contract,
  });
  return { scene, first, world };
}

/** A server of the same version as pg_dump, which copies from none that is newer. @throws Error without one */
async function findPrograms(): Promise<{ programs?: string }> {
  const printed = await runProgram('pg_dump', ['--version']).catch(() => {
    throw new Error('pg_dump is needed. Remedy: install the client of PostgreSQL');
  });
  const major = /\b(\d+)\./.exec(printed)?.[1];
  const programs = `/usr/lib/postgresql/${major}`;
  if (existsSync(path.join(programs, 'bin/postgres'))) return { programs };
  if (Number(major) >= 18) return {};
  throw new Error(
    `A server of PostgreSQL ${major} is needed, as pg_dump is. Remedy: install postgresql-${major}`,
  );
}

// Groups of users belong to the server: migrate makes them, and gives them their rights.
const intoEmpty = ['--no-owner', '--no-privileges', '--exit-on-error'];

export async function dumpDatabase(url: string, file: string): Promise<void> {
  await runProgram('pg_dump', ['--format=custom', '--file', file, url]);
}

/** Into an empty server. */
export async function restoreDatabase(url: string, file: string): Promise<void> {
  await runProgram('pg_restore', [...intoEmpty, '--dbname', url, file]);
}
