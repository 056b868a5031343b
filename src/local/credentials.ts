import type { Config } from '../config/config.ts';
import { localChainId } from './programs/chain.ts';
import { walletsOf } from './sample/contracts.ts';
import type { WorldKeys } from './sample/sample-data.ts';
import type { World } from './sample/world.ts';

/** What a program needs to use the local service: the content of `.local/credentials.json`. */
export type Credentials = {
  readonly baseUrl: string;
  readonly portalUrl: string;
  /** The listener for operators, with health and metrics. */
  readonly operationsUrl: string;
  readonly keys: WorldKeys;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly databaseUrl: string;
  /** Name to EIP-55 address. */
  readonly contracts: Readonly<Record<string, string>>;
  /** EIP-55 addresses. */
  readonly wallets: readonly string[];
};

export function credentialsOf(world: World, config: Config, rpcUrl: string): Credentials {
  return {
    baseUrl: config.publicBaseUrl,
    portalUrl: `${config.publicBaseUrl}/docs`,
    operationsUrl: `http://localhost:${config.OPERATIONS_PORT}`,
    keys: world.keys,
    chainId: Number(localChainId),
    rpcUrl,
    databaseUrl: config.DATABASE_URL,
    contracts: world.addresses,
    wallets: walletsOf(world.cast),
  };
}
