import type { Logger } from '../../../src/base/log.ts';
import type { NetworkRegistry } from '../../../src/chain/networks.ts';
import { createNetworkRegistry } from '../../../src/chain/networks.ts';
import { createRpcClients, type RpcClients } from '../../../src/chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import type { Notifications } from '../../../src/db/connection/notifications.ts';
import type { LivesDatabase } from './database.ts';
import { createWayOut, type Nodes } from './nodes.ts';
import type { Gate } from './wire.ts';

/** What all processes of a life share. */
export type Surroundings = {
  readonly database: LivesDatabase;
  readonly nodes: Nodes;
  readonly log: Logger;
  /** How many nodes must agree on what is final. */
  readonly finalityNodes: number | undefined;
};

/** A process of the service, which may die or stand still at any statement and any question. */
export type Process = {
  readonly name: string;
  readonly db: Database;
  readonly networks: NetworkRegistry;
  readonly clients: RpcClients;
  readonly notifications: Notifications;
  /** By the clock of this process. */
  readonly now: () => number;
  /** Notifies it, as PostgreSQL does. */
  notify(): void;
  isAlive(): boolean;
  /** Whether it has ever stood still. */
  hasFrozen(): boolean;
  /** Calls this when it dies. */
  onDeath(listener: () => void): void;
  /** Lets it die after so many statements and questions. */
  dieAfter(count: number): void;
  /** Lets it die when its next transaction has committed, before it learns of that. */
  dieAfterCommit(): void;
  /** Lets it stand still after so many, for some milliseconds. */
  freezeAfter(count: number, ms: number): void;
  thaw(): void;
  close(): Promise<void>;
};

/** How far the clock of a process is off, in milliseconds, and how many times as fast it goes. */
export type Skew = { readonly offset: number; readonly rate: number };

const noSkew: Skew = { offset: 0, rate: 1 };

const rpcTimeoutMs = 2_000;

export async function startProcess(around: Surroundings, name: string, skew = noSkew): Promise<Process> {
  const { database, nodes, log, finalityNodes } = around;
  const state = {
    isAlive: true,
    left: Number.POSITIVE_INFINITY,
    diesOfCommit: false,
    untilFrozen: Number.POSITIVE_INFINITY,
    frozenMs: 0,
    hasFrozen: false,
    thawed: undefined as Freeze | undefined,
  };
  let onDeath = () => {};
  const die = () => {
    if (!state.isAlive) return;
    state.isAlive = false;
    state.thawed?.resolve();
    state.thawed = undefined;
    setTimeout(() => onDeath(), 0);
  };
  const thaw = () => {
    state.thawed?.resolve();
    state.thawed = undefined;
    database.goOn();
  };
  const freeze = () => {
    state.hasFrozen = true;
    state.thawed ??= Promise.withResolvers<void>();
    setTimeout(thaw, state.frozenMs).unref();
  };
  const spend = () => {
    state.left -= 1;
    if (state.left < 0) die();
    state.untilFrozen -= 1;
    if (state.untilFrozen === 0) freeze();
    return state.isAlive;
  };
  const after = (isIdle: boolean) => {
    if (isIdle && state.diesOfCommit) die();
    return spend();
  };
  const gate: Gate = { before: spend, after, isFrozen: () => state.thawed !== undefined };
  const db = database.open(gate);
  const now = () => performance.now() * skew.rate + skew.offset;
  const listeners = new Set<() => void>();
  const notifications: Notifications = {
    async subscribe({ channel, onNotify }) {
      const listener = () => onNotify('');
      if (channel === 'tallystick_mint') listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {},
  };
  const outgoing = createWayOut({ nodes, log, now, spend, thawed: async () => state.thawed?.promise });
  const clients = createRpcClients({ timeoutMs: rpcTimeoutMs, log, outgoing, finalityNodes, now });
  const networks = await createNetworkRegistry({ db, notifications });
  return {
    name,
    db,
    networks,
    clients,
    notifications,
    now,
    notify() {
      if (state.isAlive && state.thawed === undefined) for (const listener of listeners) listener();
    },
    isAlive: () => state.isAlive,
    hasFrozen: () => state.hasFrozen,
    dieAfter(count) {
      state.left = count;
    },
    dieAfterCommit() {
      state.diesOfCommit = true;
    },
    onDeath(listener) {
      onDeath = listener;
    },
    freezeAfter(count, ms) {
      state.untilFrozen = count;
      state.frozenMs = ms;
      if (count === 0) freeze();
    },
    thaw,
    async close() {
      state.isAlive = false;
      state.thawed?.resolve();
      clients.close();
      networks.close();
      await db.destroy();
    },
  };
}

type Freeze = PromiseWithResolvers<void>;
