import type { Database } from '../contract/transaction.ts';
import { createDatabase } from '../db/connect.ts';
import { migrateToLatest } from '../db/migrate.ts';
import type { Logger } from '../log.ts';
import type { KeptSettings } from './kept-settings.ts';
import { hasState, type LocalChain, startLocalChain } from './programs/chain.ts';
import { LocalError } from './programs/local-error.ts';
import type { LocalFolder } from './programs/local-folder.ts';
import { startOnFreePort } from './programs/ports.ts';
import { hasData, type PostgresServer, startPostgresServer } from './programs/postgres.ts';
import { findPostgresPlace } from './programs/postgres-place.ts';
import { makeWorldChain, storySeconds, type WorldChain } from './sample/sample-chain.ts';
import { assertSameChain, type World } from './sample/world.ts';

export type ProgramOptions = {
  readonly folder: LocalFolder;
  readonly settings: KeptSettings;
  /** The world that the programs already hold, if there is one. */
  readonly world: World | undefined;
  readonly log: Logger;
  /** Told of each program as soon as it runs, so that it can be stopped whatever comes. */
  readonly onStarted: (program: { stop(): Promise<void> }) => void;
};

export type RunningPostgres = {
  readonly server: PostgresServer;
  readonly port: number;
  readonly db: Database;
};
export type RunningChain = { readonly chain: LocalChain; readonly port: number; readonly story: WorldChain };

const gone = (what: string) =>
  new LocalError(`${what} of this world is gone. Begin anew with: npm start -- --fresh`);

/** The database of the world, or an empty one, with the newest schema. */
export async function openPostgres(options: ProgramOptions): Promise<RunningPostgres> {
  const { folder, settings, world, log, onStarted } = options;
  const place = findPostgresPlace(folder.postgres);
  if (world !== undefined && !hasData(place)) throw gone('The database');
  const { port, started: server } = await startOnFreePort(settings.postgresPort, (port) =>
    startPostgresServer({
      place,
      port,
      password: settings.postgresPassword,
      settings: [],
      logFile: folder.postgresLog,
    }),
  );
  onStarted(server);
  const db = createDatabase(server.url, { poolMax: 2, log });
  onStarted({ stop: () => db.destroy() });
  await migrateToLatest(db);
  return { server, port, db };
}

export type ChainWishes = { readonly now: Date; readonly baseUrl: string };

/** The chain of the world, or a new one on which the story has been played. */
export async function openChain(
  options: ProgramOptions,
  { now, baseUrl }: ChainWishes,
): Promise<RunningChain> {
  const { folder, settings, world, onStarted } = options;
  if (world !== undefined && !hasState(folder.chain)) throw gone('The chain');
  const seconds = Math.floor(now.getTime() / 1_000);
  const { port, started: chain } = await startOnFreePort(settings.chainPort, (port) =>
    startLocalChain({ folder: folder.chain, port, genesisTime: seconds - storySeconds }),
  );
  onStarted(chain);
  if (world !== undefined) {
    await assertSameChain(chain, world);
    return { chain, port, story: world };
  }
  const story = await makeWorldChain({ rpc: chain.rpc, now: seconds, baseUrl });
  await chain.save();
  return { chain, port, story };
}
