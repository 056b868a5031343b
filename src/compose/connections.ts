import type { Logger } from '../base/log.ts';
import { nodeAddressesOf } from '../chain/rpc/client/node-address.ts';
import {
  createRpcClients,
  type OnAnswer,
  type OnNodeState,
  type RpcClients,
} from '../chain/rpc/client/rpc-clients.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../contract/transaction.ts';
import { createDatabase } from '../db/connection/connect.ts';
import { type SessionLimits, serviceLimits } from '../db/connection/session-limits.ts';
import { createOutgoing, type Outgoing } from '../outgoing/outgoing.ts';

/** What both the service and the operator's command are built on. Each connects at its first use. */
export type Connections = {
  readonly db: Database;
  readonly clients: RpcClients;
  /** By what everything but the database is called. */
  readonly outgoing: Outgoing;
};

type ConnectionOptions = {
  /** Connections of the pool at most. */
  readonly poolMax: number;
  readonly log: Logger;
  /** Those of the service by default. */
  readonly limits?: SessionLimits | undefined;
  /** Called with the outcome of each question to a node. */
  readonly onAnswer?: OnAnswer;
  /** Makes what is called when what is thought of a node has changed. */
  readonly onNodeState?: (db: Database) => OnNodeState;
};

/** @param opened closes the connections */
export function openConnections(
  config: Config,
  { poolMax, log, limits, onAnswer, onNodeState }: ConnectionOptions,
  opened: AsyncDisposableStack,
): Connections {
  const db = opened.adopt(openDatabase(config, { poolMax, log, limits }), (pool) => pool.destroy());
  const outgoing = opened.adopt(createOutgoing({ log }), (callees) => callees.close());
  const rpcClients = createRpcClients({
    outgoing,
    timeoutMs: config.RPC_TIMEOUT_MS,
    finalityNodes: config.RPC_FINALITY_NODES,
    addresses: nodeAddressesOf(config),
    log,
    ...(onAnswer && { onAnswer }),
    ...(onNodeState && { onNodeState: onNodeState(db) }),
  });
  return { db, outgoing, clients: opened.adopt(rpcClients, (clients) => clients.close()) };
}

/** The database of the settings, by way of the pooler where there is one. */
export function openDatabase(
  config: Config,
  { poolMax, log, limits }: Pick<ConnectionOptions, 'poolMax' | 'log' | 'limits'>,
): Database {
  const { DATABASE_SESSION_URL: sessionUrl } = config;
  return createDatabase(config.DATABASE_URL, {
    poolMax,
    log,
    limits: limits ?? { ...serviceLimits, lockMs: config.fixed.lockTimeoutMs },
    ...(sessionUrl !== undefined && { sessionUrl }),
  });
}

/** Where connections lead that keep a session of their own. */
export const sessionUrlOf = (config: Config): string => config.DATABASE_SESSION_URL ?? config.DATABASE_URL;
