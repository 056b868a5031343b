import type { Config } from '../config/config.ts';
import { createClaimSecretVault } from '../rwa/assets/claim-secret.ts';
import {
  openChain,
  openPostgres,
  type ProgramOptions,
  type RunningChain,
  type RunningPostgres,
} from './local-programs.ts';
import { moveMetadata } from './sample/nft-contract.ts';
import { fillDatabase, moveNetwork } from './sample/sample-data.ts';
import { keepWorld, type World } from './sample/world.ts';
import { keepSettings, localConfig, type SettingsOfStart } from './settings.ts';

export type WorldOptions = ProgramOptions & { readonly env: SettingsOfStart; readonly now: Date };

export type OpenWorld = {
  readonly world: World;
  /** Makes later starts use the world again. */
  readonly keep: () => void;
  readonly config: Config;
  readonly rpcUrl: string;
  /** Resolves with the name of the first program that ends. */
  readonly ended: Promise<string>;
};

/**
 * Starts database and chain with the kept sample world, or with a new world. The caller keeps the world once it is
 * complete, so an interrupted start leaves none.
 */
export async function openWorld(options: WorldOptions): Promise<OpenWorld> {
  const { folder, settings, env, now } = options;
  const { publicBaseUrl: baseUrl } = localConfig(env, settings);
  const [postgres, chain] = await both(openPostgres(options), openChain(options, { now, baseUrl }));
  keepSettings(folder, { ...settings, postgresPort: postgres.port, chainPort: chain.port });
  const config = localConfig(env, settings, postgres.server.url);
  const parts = { postgres, chain, config };
  const world = options.world ? await resume(options.world, parts) : await complete(parts, now);
  chain.chain.saveEveryBlock();
  return {
    world,
    keep: () => keepWorld(folder, world),
    config,
    rpcUrl: chain.chain.rpcUrl,
    ended: firstEnd(parts),
  };
}

type Parts = { readonly postgres: RunningPostgres; readonly chain: RunningChain; readonly config: Config };

async function complete({ postgres, chain, config }: Parts, now: Date): Promise<World> {
  const vault = createClaimSecretVault(config.SECRET_KEYS ?? new Map());
  const { cast, addresses, head } = chain.story;
  const { rpcUrl } = chain.chain;
  const keys = await fillDatabase({ db: postgres.db, vault, chain: chain.story, rpcUrl, now });
  return { cast, addresses, head, keys, baseUrl: config.publicBaseUrl };
}

/** Adapts a kept world to ports and addresses that have changed. */
async function resume(world: World, { postgres, chain, config }: Parts): Promise<World> {
  await moveNetwork(postgres.db, chain.chain.rpcUrl);
  const baseUrl = config.publicBaseUrl;
  if (world.baseUrl !== baseUrl) await moveMetadata(chain.chain.rpc, world, baseUrl);
  return { ...world, baseUrl };
}

// Waits for both even when one fails, so that everything that was started is registered before it is stopped.
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

const firstEnd = ({ postgres, chain }: Parts): Promise<string> =>
  Promise.race([
    postgres.server.ended.then(() => 'PostgreSQL'),
    chain.chain.ended.then(() => 'The local chain'),
  ]);
