import { chmodSync } from 'node:fs';
import path from 'node:path';
import { createLogger } from '../../src/base/log.ts';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { migrationLimits } from '../../src/db/connection/session-limits.ts';
import { groupOf } from '../../src/db/schema/role-rights.ts';
import { type Gate, startGate } from '../../test/keys/tcp-gate.ts';
import { wallet as hostedWallet, transaction } from '../../test/support/moralis-payloads.ts';
import { type MoralisServer, startMoralisServer } from '../../test/support/moralis-server.ts';
import { installMulticall } from '../../test/support/multicall.ts';
import { startNode, type TestNode } from '../../test/support/node/node.ts';
import { type BenchChain, createSigners, startBenchChain } from '../bench/mint/bench-chain.ts';
import { type Authenticator, startAuthenticator } from './authenticator.ts';
import { balancerAddress } from './balancer.ts';
import { type DatabaseServer, startDatabaseServer } from './database-server.ts';
import type { Role, Settings } from './fleet.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { createWorld, quickFinality, thisRelease, type World, worldKeys } from './world.ts';

/** The surroundings of the service, each thing where a fault can reach it. */
export type Surroundings = {
  readonly folder: string;
  readonly postgres: () => DatabaseServer;
  /** Another server takes the place of the server before, which is removed at the end. */
  promote(server: DatabaseServer): void;
  /** The disk of the server, where one could be mounted; one that took its place has none. */
  readonly disk: () => SmallDisk | undefined;
  /** Between the service and PostgreSQL. */
  readonly wire: Gate;
  readonly chain: BenchChain;
  /** The nodes that the service knows; both lead to the chain. */
  readonly nodes: readonly TestNode[];
  readonly upstream: MoralisServer;
  readonly authenticator: Authenticator;
  readonly world: World;
  /** Connects past the wire, to check what is stored. */
  openDatabase(): Database;
  /** Settings of a process of the service with this role. */
  settingsOf(role: Role): Settings;
  close(): Promise<void>;
};

const roles: readonly Role[] = ['api', 'worker', 'indexer'];
const userOf = (role: Role) => `load_${role}`;
const password = 'few-rights';

/** The URL of the database for the user of this role, who has no more rights than it needs. */
function asRole(databaseUrl: string, role: Role): string {
  const url = new URL(databaseUrl);
  [url.username, url.password] = [userOf(role), password];
  return url.href;
}

/**
 * Starts a database, a chain with two nodes, an upstream and an authentication service, with two companies.
 * @param folder exists, and is empty
 */
export async function startSurroundings(folder: string): Promise<Surroundings> {
  await using opened = new AsyncDisposableStack();
  // As root the database runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  const primary = path.join(folder, 'primary');
  const disk = mountSmallDisk(primary);
  opened.defer(() => disk?.close());
  const first = opened.adopt(await startDatabaseServer(primary), (server) => server.close());
  let postgres = first;
  const wire = opened.adopt(await startGate(postgres.url), (gate) => gate.close());
  const signers = await createSigners(2);
  const chain = opened.adopt(await startBenchChain(signers.addresses, quickFinality), (running) =>
    running.close(),
  );
  await installMulticall(chain.rpcUrl);
  const nodes: TestNode[] = [];
  for (const _each of [1, 2]) nodes.push(opened.adopt(await startNode(chain.rpcUrl), (node) => node.close()));
  const records = Array.from({ length: 50 }, (_, index) => transaction(index));
  const hosted = { histories: { [`0x1:${hostedWallet}`]: records }, nfts: {} };
  const upstream = opened.adopt(await startMoralisServer(hosted), (server) => server.close());
  const log = createLogger({ level: 'silent' });
  const openDatabase = () => createDatabase(postgres.url, { poolMax: 2, log, limits: migrationLimits });
  const db = openDatabase();
  await prepareDatabase(db);
  for (const role of roles) {
    await db.raw(`CREATE ROLE ${userOf(role)} LOGIN PASSWORD '${password}' IN ROLE ${groupOf(role)}`);
  }
  const place = { release: thisRelease, settings: { DATABASE_URL: postgres.url, ...worldKeys } };
  const world = await createWorld(place, {
    rpcUrls: nodes.map(({ url }) => url),
    contract: chain.contract,
  });
  await addHostedNetwork(db);
  await db.destroy();
  const authenticator = opened.adopt(await startAuthenticator(Object.values(world)), (server) =>
    server.close(),
  );
  const kept = opened.move();
  return {
    folder,
    disk: () => (postgres === first ? disk : undefined),
    postgres: () => postgres,
    promote(server) {
      postgres = kept.adopt(server, (running) => running.close());
    },
    wire,
    chain,
    nodes,
    upstream,
    authenticator,
    world,
    openDatabase,
    settingsOf: (role) => ({
      ...worldKeys,
      DATABASE_URL: asRole(wire.through(postgres.url), role),
      // All callers come through the balancer, which names their addresses.
      TRUSTED_PROXIES: balancerAddress,
      MORALIS_BASE_URL: upstream.baseUrl,
      MORALIS_API_KEY: upstream.apiKey,
      ...(role === 'worker' && signers.settings),
    }),
    close: () => kept.disposeAsync(),
  };
}

/** A network that the upstream serves. Its nodes are never asked, so that the command, which asks them, does not fit. */
async function addHostedNetwork(db: Database): Promise<void> {
  const same = 'currency_name, currency_symbol, currency_decimals, rpc_urls, confirmations, finality_depth';
  await db.raw(
    `INSERT INTO networks (chain_id, name, data_provider, ${same}) SELECT '1', 'Hosted', 'moralis', ${same} FROM networks`,
  );
}
