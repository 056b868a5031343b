import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { banner } from './banner.ts';
import { type Credentials, credentialsOf } from './credentials.ts';
import { readSettings } from './kept-settings.ts';
import type { ProgramOptions } from './local-programs.ts';
import { openWorld } from './open-world.ts';
import { exitStateFile, localChainId } from './programs/chain.ts';
import { endLeftovers } from './programs/leftovers.ts';
import { LocalError } from './programs/local-error.ts';
import { type LocalFolder, openLocalFolder, writeJson } from './programs/local-folder.ts';
import { takeLock } from './programs/lock.ts';
import { watchNpm } from './programs/npm-watch.ts';
import { possibleData } from './programs/postgres-place.ts';
import { minterKey } from './sample/sample-chain.ts';
import { takeUpWorld } from './sample/world.ts';
import { type Environment, withPorts } from './settings.ts';

export type LocalOptions = {
  /** Removes the world that is there and makes a new one. */
  readonly fresh: boolean;
  /** Where `.local` is, or will be. */
  readonly directory: string;
  /** The environment; its settings hold, but for those of the local programs and keys. */
  readonly env: Environment;
  readonly log: Logger;
  /** Tells the person at the keyboard a line. */
  readonly print: (line: string) => void;
  readonly now?: () => Date;
};

export type LocalEnvironment = {
  /** What the service is started with. */
  readonly config: Config;
  readonly credentials: Credentials;
  /** The key of the chain's own account that mints. */
  readonly signer: { readonly chainId: string; readonly privateKey: string };
  /** What to print once the service is ready. */
  readonly banner: string;
  /** Settles when the database or the chain has ended unasked: the service cannot go on. */
  readonly failed: Promise<LocalError>;
  /** Ends chain and database in order. To be called when the service has stopped. */
  stop(): Promise<void>;
};

/**
 * Starts a PostgreSQL and a chain under `.local` with the sample world in them, made at the first start and
 * taken up at each later one. Whatever ends this process, nothing that it started goes on.
 * @throws LocalError with what to mend; ConfigError naming every fault of the environment
 */
export async function startLocal(options: LocalOptions): Promise<LocalEnvironment> {
  const folder = openLocalFolder(options.directory);
  const lock = takeLock(folder.lock);
  const programs: { stop(): Promise<void> }[] = [];
  let stopping = false;
  const stop = async () => {
    stopping = true;
    // The last one first: connections before servers.
    for (const program of programs.splice(0).reverse()) await program.stop();
    lock.release();
  };
  watchNpm(() => process.kill(process.pid, 'SIGTERM'));
  try {
    const { ended, ...environment } = await open(folder, options, (program) => programs.push(program));
    const failed = ended.then((name) => (stopping ? new Promise<never>(() => {}) : endedUnasked(name)));
    return { ...environment, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(
  folder: LocalFolder,
  { fresh, env: given, log, print, now = () => new Date() }: LocalOptions,
  onStarted: ProgramOptions['onStarted'],
): Promise<Omit<LocalEnvironment, 'failed' | 'stop'> & { readonly ended: Promise<string> }> {
  const env = await withPorts(given);
  await endLeftovers([...possibleData(folder.postgres), exitStateFile(folder.chain)]);
  const kept = takeUpWorld(folder, fresh, print);
  if (kept === undefined) print('Making the sample world …');
  const settings = readSettings(folder);
  const opened = await openWorld({ folder, settings, env, world: kept, log, onStarted, now: now() });
  const credentials = credentialsOf(opened.world, opened.config, opened.rpcUrl);
  writeJson(folder.credentials, credentials);
  return {
    config: opened.config,
    credentials,
    signer: { chainId: localChainId, privateKey: minterKey() },
    banner: banner(credentials, folder.credentials),
    ended: opened.ended,
  };
}

const endedUnasked = (name: string) =>
  new LocalError(`${name} has ended unasked. Its log is in .local; start again to go on from what is kept.`);
