import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createLogger } from '../../../src/base/log.ts';
import { prepareDatabase } from '../../../src/compose/migrate.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { createDatabase } from '../../../src/db/connection/connect.ts';
import { migrationLimits } from '../../../src/db/connection/session-limits.ts';
import { firstFreePort } from '../../../src/local/programs/ports.ts';
import { startPostgresServer } from '../../../src/local/programs/postgres.ts';
import { findPostgresPlace } from '../../../src/local/programs/postgres-place.ts';
import { startChain } from '../../../test/support/chain.ts';
import { type Filled, fillCompany, type Sizes } from './fill.ts';

/** A company with many rows. */
export type DataSet = Kept<Filled>;

const wholeSizes: Sizes = { rwas: 10_000, nftsPerRwa: 100, events: 100_000 };
const quickSizes: Sizes = { rwas: 1_000, nftsPerRwa: 10, events: 5_000 };

// To be raised when `fill.ts` makes other rows.
const version = 1;
const folder = path.resolve(import.meta.dirname, '../../../.local/bench');
const migrations = path.resolve(import.meta.dirname, '../../../migrations');
const settings = ['max_connections=200', 'shared_buffers=512MB', 'max_wal_size=4GB', 'synchronous_commit=on'];

/** Opens the data of these sizes; makes them at the first run, and again when the schema has changed. */
function openDataSet(sizes: Sizes, isWritten: boolean, say: (line: string) => void): Promise<DataSet> {
  const nfts = sizes.rwas * sizes.nftsPerRwa;
  return openKept(
    {
      name: `${nfts}-nfts`,
      content: [version, sizes],
      isWritten,
      about: `${nfts} NFTs and ${sizes.events} events`,
      fill: (db) => fillCompany(db, sizes, say),
    },
    say,
  );
}

type OpenOptions = {
  readonly isQuick: boolean;
  /** Whether much is written, to a copy then, so that later runs find what this one found. */
  readonly isWritten: boolean;
  readonly say: (line: string) => void;
};

/** Opens the data, whole or for a quick run, with a chain that its network is on; both are closed with the stack. */
export async function openWithChain(
  opened: AsyncDisposableStack,
  { isQuick, isWritten, say }: OpenOptions,
): Promise<DataSet> {
  const set = await openDataSet(isQuick ? quickSizes : wholeSizes, isWritten, say);
  const data = opened.adopt(set, ({ close }) => close());
  const chain = opened.adopt(await startChain({}), (running) => running.close());
  await data.db('networks').update({ rpc_urls: [chain.rpcUrl] });
  return data;
}

type Recipe<Rows> = {
  /** Of the folder. */
  readonly name: string;
  /** The data are made again when it changes. */
  readonly content: unknown;
  /** The data that is made, in words. */
  readonly about: string;
  readonly fill: (db: Database) => Promise<Rows>;
  /** Whether a copy is opened, which goes when it is closed. */
  readonly isWritten?: boolean;
};

/** Rows in a PostgreSQL of their own, which is kept for later runs. */
export type Kept<Rows> = Rows & { readonly url: string; readonly db: Database; close(): Promise<void> };

export async function openKept<Rows extends object>(
  { name, content, about, fill, isWritten = false }: Recipe<Rows>,
  say: (line: string) => void,
): Promise<Kept<Rows>> {
  const named = createHash('sha256')
    .update(JSON.stringify([content, readdirSync(migrations).sort()]))
    .digest('hex')
    .slice(0, 12);
  const own = path.join(folder, name);
  const note = path.join(own, 'set.json');
  const kept = existsSync(note)
    ? (JSON.parse(readFileSync(note, 'utf8')) as Rows & { named: string })
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
  const db = connect(server.url);
  const close = async () => {
    await db.destroy();
    await server.stop();
  };
  const make = async () => {
    say(`making ${about}, once; they stay in ${folder}`);
    await prepareDatabase(db);
    const rows = await fill(db);
    await db.raw('VACUUM ANALYZE');
    return rows;
  };
  try {
    const rows = isCurrent ? kept : await make();
    writeFileSync(note, JSON.stringify({ ...rows, named }));
    if (!isWritten) return { ...rows, url: server.url, db, close };
    await db.destroy();
    const url = await copyOf(server.url);
    const copy = connect(url);
    const closeCopy = async () => {
      await copy.destroy();
      await atServer(server.url, (other) => other.raw(`DROP DATABASE ${copyName}`));
      await server.stop();
    };
    return { ...rows, url, db: copy, close: closeCopy };
  } catch (error) {
    await close();
    throw error;
  }
}

const connect = (url: string): Database =>
  createDatabase(url, { poolMax: 8, log: createLogger({ level: 'silent' }), limits: migrationLimits });

const copyName = 'written';

/** Copies the database, as files. @returns the address of the copy */
async function copyOf(url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  await atServer(url, async (other) => {
    // Of a run that was ended.
    await other.raw(`DROP DATABASE IF EXISTS ${copyName}`);
    await other.raw(`CREATE DATABASE ${copyName} TEMPLATE ${name} STRATEGY file_copy`);
  });
  return Object.assign(new URL(url), { pathname: `/${copyName}` }).href;
}

/** What needs a connection to another database of the server. */
async function atServer(url: string, work: (other: Database) => Promise<unknown>): Promise<void> {
  const other = connect(Object.assign(new URL(url), { pathname: '/template1' }).href);
  await work(other).finally(() => other.destroy());
}
