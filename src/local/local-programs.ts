import type { Logger } from '../base/log.ts';
import { prepareDatabase } from '../compose/migrate.ts';
import type { Database } from '../contract/transaction.ts';
import { createDatabase } from '../db/connection/connect.ts';
import { hasState, type LocalChain, startLocalChain } from './programs/chain.ts';
import { LocalError } from './programs/local-error.ts';
import type { LocalFolder } from './programs/local-folder.ts';
import { startOnFreePort } from './programs/ports.ts';
import { hasData, type PostgresServer, startPostgresServer } from './programs/postgres.ts';
import { findPostgresPlace } from './programs/postgres-place.ts';
import { makeWorldChain, storySeconds, type WorldChain } from './sample/sample-chain.ts';
import { assertSameChain, type World } from './sample/world.ts';
import type { KeptSettings } from './settings.ts';

export type ProgramOptions = {
  readonly folder: LocalFolder;
  readonly settings: KeptSettings;
  /** The sample world that the programs have already; undefined at the first start. */
  readonly world: World | undefined;
  readonly log: Logger;
  /** Stops the programs. Each is registered as soon as it runs, also when a later step fails. */
  readonly opened: AsyncDisposableStack;
};

export type RunningPostgres = {
  readonly server: PostgresServer;
  readonly port: number;
  readonly db: Database;
};
export type RunningChain = { readonly chain: LocalChain; readonly port: number; readonly story: WorldChain };

const gone = (what: string) =>
  new LocalError(`${what} of this world is gone. Start again with: npm start -- --fresh`);

/** Starts the database with what it contains, or an empty one, and brings its schema up to date. */
export async function openPostgres(options: ProgramOptions): Promise<RunningPostgres> {
  const { folder, settings, world, log, opened } = options;
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
  opened.adopt(server, (running) => running.stop());
  const db = opened.adopt(createDatabase(server.url, { poolMax: 2, log }), (pool) => pool.destroy());
  await prepareDatabase(db);
  return { server, port, db };
}

export type ChainStart = { readonly now: Date; readonly baseUrl: string };

/** Starts the chain of the sample world, or a new chain and plays the story on it. */
export async function openChain(
  options: ProgramOptions,
  { now, baseUrl }: ChainStart,
): Promise<RunningChain> {
  const { folder, settings, world, opened } = options;
  if (world !== undefined && !hasState(folder.chain)) throw gone('The chain');
  const seconds = Math.floor(now.getTime() / 1_000);
  const { port, started: chain } = await startOnFreePort(settings.chainPort, (port) =>
    startLocalChain({ folder: folder.chain, port, genesisTime: seconds - storySeconds }),
  );
  opened.adopt(chain, (running) => running.stop());
  if (world !== undefined) {
    await assertSameChain(chain, world);
    return { chain, port, story: world };
  }
  const story = await makeWorldChain({ rpc: chain.rpc, now: seconds, baseUrl });
  // The story ends when the start began: the chain would stay behind by what the start took since.
  await chain.rpc.call('evm_setTime', Math.floor(Date.now() / 1_000));
  await chain.save();
  return { chain, port, story };
}
