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
import { commonDetails, countClasses } from '../load/answers.ts';
import { type DatabaseServer, serveDatabase } from '../load/database-server.ts';
import { type Fleet, type Settings, startFleet } from '../load/fleet.ts';
import { brokenInvariants, unfinishedMints } from '../load/invariants.ts';
import { lostWrites } from '../load/ledger.ts';
import { until } from '../load/until.ts';
import { startUsualLoad, type UsualLoad } from '../load/usual-load.ts';
import {
  createWorld,
  type Place,
  quickFinality,
  runCommand,
  stockWorld,
  thisRelease,
  type World,
  worldKeys,
} from '../load/world.ts';
import { runProgram } from '../run-program.ts';
import type { Report } from './report.ts';

/** What a release is operated over: a chain, signers, and servers for its database. */
export type Scene = {
  readonly folder: string;
  readonly chain: BenchChain;
  readonly signers: BenchSigners;
  /** Starts another PostgreSQL, which is empty. */
  serve(name: string): Promise<DatabaseServer>;
  /** Where commands work over a database. @param release the folder of another one than this */
  placeOf(url: string, release?: string): Place;
  /** Brings the schema of a place to its release, and makes two companies in it. */
  settle(place: Place, rpcUrl?: string): Promise<World>;
  /** Starts the service at a place. @param changes settings in place of these, asked whenever a process starts */
  start(place: Place, changes?: () => Changes): Promise<Fleet>;
  openDatabase(url: string): Database;
};

type Changes = { readonly ofAll?: Settings; readonly ofWorker?: Settings };

/**
 * @param opened stops and removes the whole scene
 * @param programs folder of another PostgreSQL than the packaged one
 */
export async function openScene(
  opened: AsyncDisposableStack,
  signerCount: number,
  programs?: string,
): Promise<Scene> {
  const folder = opened.adopt(await mkdtemp(path.join(tmpdir(), 'tallystick-rehearsal-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  // As root a server runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  const signers = await createSigners(signerCount);
  const chain = opened.adopt(await startBenchChain(signers.addresses, quickFinality), (running) =>
    running.close(),
  );
  const keys = { ...worldKeys, CLAIM_BASE_URL: 'https://c.example/c' };
  return {
    folder,
    chain,
    signers,
    async serve(name) {
      const own = path.join(folder, name);
      await mkdir(own, { mode: 0o755 });
      const place = { ...findPostgresPlace(path.join(own, 'postgres')), ...(programs && { programs }) };
      return opened.adopt(await serveDatabase(own, place), (server) => server.close());
    },
    placeOf: (url, release = thisRelease) => ({ release, settings: { DATABASE_URL: url, ...keys } }),
    async settle(place, rpcUrl = chain.rpcUrl) {
      await runCommand(place, 'migrate');
      return createWorld(place, { rpcUrls: [rpcUrl], contract: chain.contract });
    },
    async start({ release, settings }, changes = () => ({})) {
      const settingsOf = (role: string) => {
        const { ofAll, ofWorker = signers.settings } = changes();
        return { ...settings, ...ofAll, ...(role === 'worker' && ofWorker) };
      };
      return opened.adopt(await startFleet({ folder, release, settingsOf }), (fleet) => fleet.stop());
    },
    openDatabase: (url) =>
      opened.adopt(createDatabase(url, { poolMax: 2, log: createLogger({ level: 'silent' }) }), (db) =>
        db.destroy(),
      ),
  };
}

/** Lets both companies use a service, from when it indexes. */
export async function useService({ port }: Fleet, world: World): Promise<UsualLoad> {
  return startUsualLoad({ port, world: await stockWorld(port, world) });
}

type Used = {
  readonly loads: readonly UsualLoad[];
  readonly fleets: readonly Fleet[];
  readonly db: Database;
  readonly chain: BenchChain;
};

/** Checks that nothing failed, nothing was lost, and all is true. @returns figures */
export async function reportUse(report: Report, { loads, fleets, db, chain }: Used) {
  const answers = loads.flatMap((load) => load.answers);
  const writes = loads.flatMap(({ ledger }) => ledger.writes);
  const failed = answers.length - countClasses(answers).ok;
  await report(`all ${answers.length} requests were answered as asked`, async () => {
    if (failed > 0) throw new Error(commonDetails(answers).join('\n'));
  });
  await report('every accepted mint is minted', async () => {
    await until(async () => (await unfinishedMints(db)) === 0, 'mints on their way');
  });
  const lost = await lostWrites(db, writes);
  await report(`all ${writes.length} accepted writes are there, and counters and chain agree`, async () => {
    const gone = lost.map(({ kind, id }) => `lost: ${kind} ${id}`);
    const unhandled = fleets.flatMap((fleet) => fleet.unhandled());
    const faults = [...gone, ...(await brokenInvariants(db, chain)), ...unhandled];
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  return { requests: answers.length, failed, writes: writes.length, lost: lost.length };
}

/** A scene whose database can be dumped, with what callers of the service work with in the first of its servers. */
export async function openDumpedScene(opened: AsyncDisposableStack) {
  const scene = await openScene(opened, 1, await findPrograms());
  const first = await scene.serve('first');
  return { scene, first, world: await scene.settle(scene.placeOf(first.url)) };
}

/** The folder of a server of the same version as pg_dump, which copies from none that is newer. @throws Error without one */
async function findPrograms(): Promise<string | undefined> {
  const printed = await runProgram('pg_dump', ['--version']).catch(() => {
    throw new Error('pg_dump is needed. Remedy: install the client of PostgreSQL');
  });
  const major = /\b(\d+)\./.exec(printed)?.[1];
  const programs = `/usr/lib/postgresql/${major}`;
  if (existsSync(path.join(programs, 'bin/postgres'))) return programs;
  if (Number(major) >= 18) return undefined;
  throw new Error(
    `A server of PostgreSQL ${major} is needed, as pg_dump is. Remedy: install postgresql-${major}`,
  );
}

export async function dumpDatabase(url: string, file: string): Promise<void> {
  await runProgram('pg_dump', ['--format=custom', '--file', file, url]);
}

/** Restores into an empty server. Groups of users belong to the server: migrate makes them, and gives them their rights. */
export async function restoreDatabase(report: Report, place: Place, file: string): Promise<void> {
  await report('pg_restore into an empty server, and tallystick migrate for the rights', async () => {
    const intoEmpty = ['--no-owner', '--no-privileges', '--exit-on-error'];
    await runProgram('pg_restore', [...intoEmpty, '--dbname', String(place.settings['DATABASE_URL']), file]);
    await runCommand(place, 'migrate');
  });
}
