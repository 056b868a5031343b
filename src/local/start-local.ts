import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { createDatabase } from '../db/connection/connect.ts';
import { findIndexState } from '../providers/indexer/store/write/index-state-store.ts';
import { banner } from './banner.ts';
import { type Credentials, credentialsOf } from './credentials.ts';
import { openWorld } from './open-world.ts';
import { exitStateFile, localChainId } from './programs/chain.ts';
import { createChainRpc } from './programs/chain-rpc.ts';
import { endLeftovers } from './programs/leftovers.ts';
import { LocalError } from './programs/local-error.ts';
import { type LocalFolder, openLocalFolder, writeJson } from './programs/local-folder.ts';
import { takeLock } from './programs/lock.ts';
import { possibleData } from './programs/postgres-place.ts';
import { minterKey } from './sample/sample-chain.ts';
import { takeUpWorld } from './sample/world.ts';
import { readSettings, type SettingsOfStart, takePorts } from './settings.ts';

export type LocalOptions = {
  /** Replaces the kept sample world by a new world. */
  readonly fresh: boolean;
  /** The parent of `.local`. */
  readonly directory: string;
  /** May set everything but the local programs and keys; see {@link localConfig}. */
  readonly env: SettingsOfStart;
  readonly log: Logger;
  /** Prints a line for the person at the keyboard. */
  readonly print: (line: string) => void;
};

export type LocalEnvironment = {
  readonly config: Config;
  readonly credentials: Credentials;
  /** Signs mints: an account of the local chain. */
  readonly signer: { readonly chainId: string; readonly privateKey: string };
  /**
   * Makes later starts use the world again. Call it once the index is complete: after a restart the chain has no traces of its
   * blocks any more.
   */
  readonly keep: () => void;
  /** Releases the ports of the service, which are kept from other programs until it listens itself. */
  readonly releasePorts: () => Promise<void>;
  /** To be printed once the service is ready. */
  readonly banner: string;
  /** Resolves when the database or the chain ends before `stop`: the service cannot go on then. */
  readonly failed: Promise<LocalError>;
  /** Stops chain and database. Call it after the service has stopped. */
  stop(): Promise<void>;
};

/**
 * Starts a PostgreSQL and a chain under `.local` with the sample world in them, which the first start creates and later
 * starts use again. No program that it starts outlives this process, whatever ends it.
 * @throws LocalError with what to repair; ConfigError naming every fault of the environment
 */
export async function startLocal(options: LocalOptions): Promise<LocalEnvironment> {
  await using starting = new AsyncDisposableStack();
  const folder = openLocalFolder(options.directory);
  starting.adopt(takeLock(folder.lock), (lock) => lock.release());
  const { ended, ...environment } = await open(folder, options, starting);
  const running = starting.move();
  const failed = ended.then((name) => (running.disposed ? new Promise<never>(() => {}) : endedUnasked(name)));
  return { ...environment, failed, stop: () => running.disposeAsync() };
}

async function open(
  folder: LocalFolder,
  { fresh, env: given, log, print }: LocalOptions,
  opened: AsyncDisposableStack,
): Promise<Omit<LocalEnvironment, 'failed' | 'stop'> & { readonly ended: Promise<string> }> {
  const { env, release: releasePorts } = await takePorts(given, opened);
  await endLeftovers([...possibleData(folder.postgres), exitStateFile(folder.chain)]);
  const kept = takeUpWorld(folder, fresh, print);
  if (kept === undefined) print('Making the sample world …');
  const settings = readSettings(folder);
  const { world, keep, config, rpcUrl, ended } = await openWorld({
    folder,
    settings,
    env,
    world: kept,
    log,
    opened,
    now: new Date(),
  });
  const credentials = credentialsOf(world, config, rpcUrl);
  writeJson(folder.credentials, credentials);
  return {
    config,
    credentials,
    signer: { chainId: localChainId, privateKey: minterKey() },
    banner: banner(credentials, folder.credentials),
    releasePorts,
    keep,
    ended,
  };
}

const endedUnasked = (name: string) =>
  new LocalError(`${name} has ended unasked. Its log is in .local; start again to go on from what is kept.`);

const script = fileURLToPath(new URL('../../scripts/docs.ts', import.meta.url));

/** Builds the portal where it is missing or not current. The service works without it, so a failure is only logged. */
export async function preparePortal(log: Logger): Promise<void> {
  const build = spawn(process.execPath, [script, '--quiet', '--if-installed'], {
    stdio: 'ignore',
    timeout: 60_000,
  });
  const [code] = await once(build, 'close').catch(() => [undefined]);
  if (code !== 0) log.warn('the portal was not built; see what is wrong with: npm run docs');
}

const pauseMs = 30;

/**
 * Waits until the index has the newest block of the local chain, so that the first answers to a person are
 * complete, and no block is left to a chain that has forgotten its traces.
 * @returns false when that takes longer than the patience
 */
export async function untilIndexed(
  { DATABASE_URL, ROLES }: Config,
  { rpcUrl }: Pick<Credentials, 'rpcUrl'>,
  { log, patienceMs }: { readonly log: Logger; readonly patienceMs: number },
): Promise<boolean> {
  if (!ROLES.includes('indexer')) return true;
  const newest = BigInt(String(await createChainRpc(rpcUrl).call('eth_blockNumber')));
  await using opened = new AsyncDisposableStack();
  const db = opened.adopt(createDatabase(DATABASE_URL, { poolMax: 1, log }), (pool) => pool.destroy());
  const deadline = Date.now() + patienceMs;
  while (((await findIndexState(db, localChainId))?.head?.number ?? -1n) < newest) {
    if (Date.now() > deadline) return false;
    await pause(pauseMs);
  }
  return true;
}
