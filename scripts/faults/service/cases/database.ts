import { setTimeout as pause } from 'node:timers/promises';
import type { DatabaseServer } from '../../../load/database-server.ts';
import type { Surroundings } from '../../../load/surroundings.ts';
import type { Wire } from '../../../load/wire.ts';
import type { Aftermath, Fault, Stage } from '../fault.ts';
import { answersSoon } from '../proofs.ts';

const onPostgres =
  (work: (server: DatabaseServer) => Promise<void>, end: (server: DatabaseServer) => Promise<void>) =>
  async ({ around }: Stage) => {
    await work(around.postgres());
    const acted = !(await answersSoon(around.postgres().url));
    return async () => {
      await end(around.postgres());
      return { acted };
    };
  };

/** A setting of the server that new transactions follow at once, and by which it refuses in these words. */
const setting =
  (name: string, value: string, refusal: string) =>
  async ({ around }: Stage) => {
    const refusals = around.postgres().logged(refusal);
    const db = around.openDatabase();
    // The connection that ends it was opened before, so it may write.
    const set = async (sql: string) => {
      await db.raw(sql);
      await db.raw('SELECT pg_reload_conf()');
    };
    await set(`ALTER SYSTEM SET ${name} = ${value}`);
    return async () => {
      await set(`ALTER SYSTEM RESET ${name}`);
      await db.destroy();
      return { acted: around.postgres().logged(refusal) > refusals };
    };
  };

/** What stands between the service and PostgreSQL withholds what passes. */
const onWire =
  (work: (wire: Wire) => Promise<void>, end: (wire: Wire) => Promise<void>) =>
  async ({ around: { wire } }: Stage) => {
    const before = await wire.withheld();
    await work(wire);
    return async () => {
      await end(wire);
      return { acted: (await wire.withheld()) > before };
    };
  };

const missingDisk = ({ around }: Stage) =>
  around.disk()
    ? undefined
    : 'a small disk takes root and a loop device, and a replica that was promoted is on none';

const noRoom = 'No space left on device';

/** Without room for its log the server ends, and whoever keeps it starts it again. */
async function freeDisk({ disk, postgres }: Surroundings, refusals: number): Promise<Aftermath> {
  disk()?.free();
  const acted = postgres().logged(noRoom) > refusals;
  if (postgres().isRunning()) return { acted };
  await postgres().start();
  return { acted, note: 'PostgreSQL ended by itself' };
}

/** Begins new segments until there is no room for one. */
async function useUpLog({ postgres, openDatabase }: Surroundings): Promise<void> {
  const db = openDatabase();
  for (let segment = 0; segment < mostSegments && postgres().isRunning(); segment += 1) {
    const work = db.raw('SELECT pg_switch_wal(), pg_logical_emit_message(true, :name, :name)', {
      name: 'full',
    });
    await work.catch(() => {});
  }
  await db.destroy();
}

// Those that it keeps to use again are used up by then.
const mostSegments = 64;

const fewConnections = 2;

/** How many connections the processes of callers have at most, in some looks. */
async function mostConnections({ openDatabase }: Surroundings): Promise<number> {
  const db = openDatabase();
  const counts: number[] = [];
  for (let look = 0; look < 10; look += 1) {
    const { rows } = await db.raw(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = 'load_api' AND backend_type = 'client backend'",
    );
    counts.push(rows[0].count);
    await pause(100);
  }
  await db.destroy();
  return Math.max(...counts);
}

export const databaseFaults: readonly Fault[] = [
  {
    name: 'PostgreSQL killed',
    about: 'all its processes at once, started again after 5 s',
    seconds: 5,
    begin: onPostgres(
      (server) => server.kill(),
      (server) => server.start(),
    ),
  },
  {
    name: 'PostgreSQL frozen',
    about: 'all its processes stopped, connections stay',
    seconds: 20,
    begin: onPostgres(
      (server) => server.freeze(),
      (server) => server.thaw(),
    ),
  },
  {
    name: 'connections black-holed',
    about: 'established ones lose every packet, new ones work',
    // A statement waits as long as the server would let it run, 30 s, and some more.
    seconds: 40,
    recoveryMs: 40_000,
    isLasting: true,
    begin: onWire(
      (wire) => wire.lose(),
      async () => {},
    ),
  },
  {
    name: 'all connections black-holed',
    about: 'new ones too',
    seconds: 20,
    begin: onWire(
      (wire) => wire.freeze(),
      (wire) => wire.open(),
    ),
  },
  {
    name: 'pool of 2',
    about: `DATABASE_POOL_MAX is ${fewConnections}`,
    seconds: 15,
    change: () => ({ settings: { DATABASE_POOL_MAX: String(fewConnections) } }),
    // Beside the pool each of two processes has a connection that listens.
    begin: async ({ around }) => {
      const most = await mostConnections(around);
      return async () => ({ acted: most > 0 && most <= 2 * (fewConnections + 1) });
    },
  },
  {
    name: 'PostgreSQL read-only',
    about: 'refuses every write',
    seconds: 10,
    begin: setting('default_transaction_read_only', 'on', 'in a read-only transaction'),
  },
  {
    ...{ name: 'disk full', about: 'no room for another page', seconds: 15, missing: missingDisk },
    async begin({ around }) {
      const refusals = around.postgres().logged(noRoom);
      around.disk()?.fill();
      return () => freeDisk(around, refusals);
    },
  },
  {
    ...{ name: 'disk full for the log', about: 'no room for another WAL segment', seconds: 10 },
    missing: missingDisk,
    async begin({ around }) {
      const refusals = around.postgres().logged(noRoom);
      around.disk()?.fill();
      await useUpLog(around);
      return () => freeDisk(around, refusals);
    },
  },
];
