import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { prepareDatabase } from '../../../src/compose/migrate.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { createDatabase } from '../../../src/db/connect.ts';
import { firstFreePort } from '../../../src/local/programs/ports.ts';
import { startPostgresServer } from '../../../src/local/programs/postgres.ts';
import { findPostgresPlace } from '../../../src/local/programs/postgres-place.ts';
import { createLogger } from '../../../src/log.ts';
import { type Filled, fillCompany, type Sizes } from './fill.ts';

/** A company with many rows in a PostgreSQL of its own, which is kept for later runs. */
export type DataSet = Filled & {
  /** Of its database. */
  readonly url: string;
  readonly db: Database;
  close(): Promise<void>;
};

export const wholeSizes: Sizes = { rwas: 10_000, nftsPerRwa: 100, events: 100_000 };
export const quickSizes: Sizes = { rwas: 1_000, nftsPerRwa: 10, events: 5_000 };

// To be raised when `fill.ts` makes other rows.
const version = 1;
const folder = path.resolve(import.meta.dirname, '../../../.local/bench');
const migrations = path.resolve(import.meta.dirname, '../../../migrations');
const settings = ['max_connections=200', 'shared_buffers=512MB', 'max_wal_size=4GB', 'synchronous_commit=on'];

/** Opens the data of these sizes; makes them at the first run, and anew when the schema has changed. */
export async function openDataSet(sizes: Sizes, say: (line: string) => void): Promise<DataSet> {
  const named = createHash('sha256')
    .update(JSON.stringify([version, sizes, readdirSync(migrations).sort()]))
    .digest('hex')
    .slice(0, 12);
  const own = path.join(folder, `${sizes.rwas * sizes.nftsPerRwa}-nfts`);
  const note = path.join(own, 'set.json');
  const kept = existsSync(note)
    ? (JSON.parse(readFileSync(note, 'utf8')) as Filled & { named: string })
    : undefined;
  const isCurrent = kept?.named === named;
  if (!isCurrent) rmSync(own, { recursive: true, force: true });
  mkdirSync(own, { recursive: true });
  const server = await startPostgresServer({
    place: findPostgresPlace(path.join(own, 'postgres')),
    port: await firstFreePort(27_432),
    password: 'bench',
    settings,
    logFile: path.join(own, 'postgres.log'),
  });
  const db = createDatabase(server.url, { poolMax: 8, log: createLogger({ level: 'silent' }) });
  const close = async () => {
    await db.destroy();
    await server.stop();
  };
  try {
    const filled = isCurrent ? kept : await fill(db, sizes, say);
    writeFileSync(note, JSON.stringify({ ...filled, named }));
    return { ...filled, url: server.url, db, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function fill(db: Database, sizes: Sizes, say: (line: string) => void): Promise<Filled> {
  say(
    `making ${sizes.rwas * sizes.nftsPerRwa} NFTs and ${sizes.events} events, once; they stay in ${folder}`,
  );
  await prepareDatabase(db);
  const filled = await fillCompany(db, sizes, say);
  await db.raw('VACUUM ANALYZE');
  return filled;
}
