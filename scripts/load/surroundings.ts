import { chmodSync } from 'node:fs';
import path from 'node:path';
import { createLogger } from '../../src/base/log.ts';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { groupOf } from '../../src/db/schema/role-rights.ts';
import { transaction } from '../../test/support/moralis-payloads.ts';
import { type MoralisServer, startMoralisServer } from '../../test/support/moralis-server.ts';
import { installMulticall } from '../../test/support/multicall.ts';
import {
  type BenchChain,
  type BenchSigners,
  createSigners,
  startBenchChain,
} from '../bench/mint/bench-chain.ts';
import { type Authenticator, startAuthenticator } from './authenticator.ts';
import { type DatabaseServer, startDatabaseServer } from './database-server.ts';
import { type NodeServer, startNodeServer } from './node-server.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { startWire, type Wire } from './wire.ts';
import { createWorld, hostedWallet, type World } from './world.ts';

/** Everything that the service works with, each thing where a fault can reach it. */
export type Surroundings = {
  readonly folder: string;
  readonly postgres: () => DatabaseServer;
  /** Another server takes the place of the one before, which is removed at the end. */
  promote(server: DatabaseServer): void;
  /** The disk of the server, where one could be mounted; one that took its place has none. */
  readonly disk: () => SmallDisk | undefined;
  /** Between the service and PostgreSQL. */
  readonly wire: Wire;
  readonly chain: BenchChain;
  readonly signers: BenchSigners;
  /** The nodes that the service knows; both lead to the chain. */
  readonly nodes: readonly NodeServer[];
  readonly upstream: MoralisServer;
  readonly authenticator: Authenticator;
  readonly world: World;
  /** Connects past the wire, to check what is stored. */
  openDatabase(): Database;
  close(): Promise<void>;
};

export type Role = 'api' | 'worker' | 'indexer';
const roles: readonly Role[] = ['api', 'worker', 'indexer'];
const userOf = (role: Role) => `load_${role}`;
const password = 'few-rights';

/** The URL of the database for the user of this role, who has no more rights than it needs. */
export function asRole(databaseUrl: string, role: Role): string {
  const url = new URL(databaseUrl);
  [url.username, url.password] = [userOf(role), password];
  return url.href;
}

// A block is final once it has two above it.
const quickFinality = ['--slots-in-an-epoch', '1'];

/**
 * Starts a database, a chain with two nodes, an upstream and an authentication service, with two companies.
 * @param folder exists, and is empty
 * @param unclaimed NFTs of each company that wait for their mint
 */
export async function startSurroundings(folder: string, unclaimed: number): Promise<Surroundings> {
  await using opened = new AsyncDisposableStack();
  // As root the database runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  const primary = path.join(folder, 'primary');
  const disk = mountSmallDisk(primary);
  opened.defer(() => disk?.close());
  const first = opened.adopt(await startDatabaseServer(primary), (server) => server.close());
  let postgres = first;
  const wire = opened.adopt(await startWire(postgres.url), (running) => running.close());
  const signers = await createSigners(folder, 2);
  const chain = opened.adopt(await startBenchChain(folder, signers.addresses, quickFinality), (running) =>
    running.stop(),
  );
  await installMulticall(chain.rpcUrl);
  const nodes: NodeServer[] = [];
  for (const _each of [1, 2])
    nodes.push(opened.adopt(await startNodeServer(chain.rpcUrl), (node) => node.close()));
  const upstream = opened.adopt(await startMoralisServer(hostedData()), (server) => server.close());
  const openDatabase = () =>
    createDatabase(postgres.url, { poolMax: 2, log: createLogger({ level: 'silent' }) });
  const db = openDatabase();
  await prepareDatabase(db);
  for (const role of roles) {
    await db.raw(`CREATE ROLE ${userOf(role)} LOGIN PASSWORD '${password}' IN ROLE ${groupOf(role)}`);
  }
  const rpcUrls = nodes.map(({ url }) => url);
  const world = await createWorld(db, { rpcUrls, contract: chain.contract, unclaimed });
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
    signers,
    nodes,
    upstream,
    authenticator,
    world,
    openDatabase,
    close: () => kept.disposeAsync(),
  };
}

function hostedData() {
  const records = Array.from({ length: 50 }, (_, index) => transaction(index));
  return { histories: { [`0x1:${hostedWallet}`]: records }, nfts: {} };
}
