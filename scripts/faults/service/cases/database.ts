import type { DatabaseServer } from '../../../load/database-server.ts';
import type { Surroundings } from '../../../load/surroundings.ts';
import type { Aftermath, Fault, Stage } from '../fault.ts';

const onPostgres =
  (work: (server: DatabaseServer) => Promise<void>, end: (server: DatabaseServer) => Promise<void>) =>
  async ({ around }: Stage) => {
    await work(around.postgres());
    return async () => {
      await end(around.postgres());
      return {};
    };
  };

/** A setting of the server that new transactions follow at once. */
const setting =
  (name: string, value: string) =>
  async ({ around }: Stage) => {
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
      return {};
    };
  };

const missingDisk = ({ around }: Stage) =>
  around.disk ? undefined : 'a small disk takes root and a loop device';

/** Without room for its log the server ends, and whoever keeps it starts it again. */
async function freeDisk({ disk, postgres }: Surroundings): Promise<Aftermath> {
  disk?.free();
  if (postgres().isRunning()) return {};
  await postgres().start();
  return { note: 'PostgreSQL ended by itself' };
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
    seconds: 20,
    isLasting: true,
    async begin({ around }) {
      around.wire.lose();
      return async () => ({});
    },
  },
  {
    name: 'all connections black-holed',
    about: 'new ones too',
    seconds: 20,
    async begin({ around }) {
      around.wire.freeze();
      return async () => {
        around.wire.open();
        return {};
      };
    },
  },
  {
    name: 'pool of 2',
    about: 'DATABASE_POOL_MAX is 2',
    seconds: 15,
    change: () => ({ settings: { DATABASE_POOL_MAX: '2' } }),
    begin: async () => async () => ({}),
  },
  {
    name: 'PostgreSQL read-only',
    about: 'refuses every write',
    seconds: 10,
    begin: setting('default_transaction_read_only', 'on'),
  },
  {
    ...{ name: 'disk full', about: 'no room for another page', seconds: 15, missing: missingDisk },
    async begin({ around }) {
      around.disk?.fill();
      return () => freeDisk(around);
    },
  },
  {
    ...{ name: 'disk full for the log', about: 'no room for another WAL segment', seconds: 10 },
    missing: missingDisk,
    async begin({ around }) {
      around.disk?.fill();
      await useUpLog(around);
      return () => freeDisk(around);
    },
  },
];
