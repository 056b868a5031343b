import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connect.ts';
import { findPostgresPlace } from '../../src/local/programs/postgres-place.ts';
import { createLogger } from '../../src/log.ts';
import { type BenchChain, createSigners, startBenchChain } from '../bench/mint/bench-chain.ts';
import { serveDatabase } from '../load/database-server.ts';
import { brokenInvariants, unfinishedMints } from '../load/invariants.ts';
import { worldKey } from '../load/world.ts';
import { createReleaseWorld, runCommand } from './release-world.ts';
import type { Report } from './report.ts';
import { runProgram } from './run-program.ts';
import { type Fleet, startFleet } from './upgrade-fleet.ts';
import { startUpgradeLoad, until } from './upgrade-load.ts';

const root = path.join(import.meta.dirname, '../..');
// Groups of users belong to the server: migrate makes them, and gives them their rights.
const intoEmpty = ['--no-owner', '--no-privileges', '--exit-on-error'];
const quickFinality = ['--slots-in-an-epoch', '1'];

/** Backs a database up under load, goes on minting, loses it, and restores it into another server. */
export async function rehearseBackup(report: Report): Promise<object> {
  const programs = await findPrograms();
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await mkdtemp(path.join(tmpdir(), 'tallystick-backup-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  await chmod(folder, 0o755);
  const serve = async (name: string) => {
    const own = path.join(folder, name);
    await mkdir(own, { mode: 0o755 });
    const place = { ...findPostgresPlace(path.join(own, 'postgres')), ...programs };
    return opened.adopt(await serveDatabase(own, place), (server) => server.close());
  };
  const first = await serve('first');
  const signers = await createSigners(folder, 1);
  const chain = opened.adopt(await startBenchChain(folder, signers.addresses, quickFinality), (running) =>
    running.stop(),
  );
  const key = `load:${worldKey.toString('base64')}`;
  const settingsOf = (url: string) => ({
    ...{ DATABASE_URL: url, SECRET_KEYS: key, CURSOR_KEYS: key, CLAIM_BASE_URL: 'https://c.example/c' },
  });
  const of = (url: string) => ({ release: root, settings: { ...settingsOf(url), ...signers.settings } });
  const start = async (url: string): Promise<Fleet> =>
    opened.adopt(
      await startFleet({ folder, release: root, settings: settingsOf(url), signers: signers.settings }),
      (fleet) => fleet.stop(),
    );
  await runCommand(of(first.url), 'migrate');
  const world = await createReleaseWorld({
    ...of(first.url),
    rpcUrl: chain.rpcUrl,
    contract: chain.contract,
  });
  const fleet = await start(first.url);
  const load = await startUpgradeLoad(fleet.port, world);
  const dump = path.join(folder, 'backup.dump');
  const db = openDatabase(first.url, opened);
  await until(async () => (await countMinted(db)) > 3, 'too few mints');
  await report('pg_dump, under load', async () => {
    await runProgram('pg_dump', ['--format=custom', '--file', dump, first.url]);
  });
  await load.steady(5_000);
  await load.stop();
  await until(async () => (await unfinishedMints(db)) === 0, 'mints on their way');
  const minted = await countMinted(db);
  await fleet.stop();

  const second = await serve('second');
  await report('pg_restore into an empty server, and tallystick migrate for the rights', async () => {
    await runProgram('pg_restore', [...intoEmpty, '--dbname', second.url, dump]);
    await runCommand(of(second.url), 'migrate');
  });
  const restored = openDatabase(second.url, opened);
  const kept = await countMinted(restored);
  await report(`recover finds the ${minted - kept} of ${minted} mints that the backup does not have`, () =>
    recover(of(second.url), restored, minted),
  );
  for (const words of [
    ['mint', 'verify'],
    ['counts', 'verify'],
    ['audit', 'verify'],
  ])
    await report(
      `tallystick ${words.join(' ')}`,
      async () => void (await runCommand(of(second.url), ...words)),
    );
  await report('the service goes on over it, and counters and chain agree', async () =>
    goOn(await start(second.url), restored, chain),
  );
  return { minted, inBackup: kept, recovered: (await countMinted(restored)) - kept };
}

type Of = Parameters<typeof runCommand>[0];

/** A server of the same version as the tools, which copy from none that is newer. @throws Error without one */
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

function openDatabase(url: string, opened: AsyncDisposableStack): Database {
  return opened.adopt(createDatabase(url, { poolMax: 2, log: createLogger({ level: 'silent' }) }), (db) =>
    db.destroy(),
  );
}

async function countMinted(db: Database): Promise<number> {
  const { rows } = await db.raw("SELECT count(*)::int AS count FROM nfts WHERE mint_state = 'minted'");
  return rows[0].count;
}

/** As an operator does: let minting wait, look, apply; again until what the chain shows is final. */
async function recover(of: Of, db: Database, minted: number): Promise<void> {
  await runCommand(of, 'recover', '--begin');
  const apply = () =>
    runCommand(of, 'recover', '--apply').then(
      () => true,
      () => false,
    );
  await until(apply, 'mints that are not recovered');
  const now = await countMinted(db);
  if (now !== minted) throw new Error(`${now} of ${minted} mints are there`);
}

async function goOn(fleet: Fleet, db: Database, chain: BenchChain): Promise<void> {
  await until(async () => (await unfinishedMints(db)) === 0, 'mints on their way');
  const faults = [...(await brokenInvariants(db, chain)), ...fleet.unhandled()];
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
