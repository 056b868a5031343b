import type { Database } from '../../../../src/contract/transaction.ts';
import { requestText, startRawCallers } from '../../../load/raw-callers.ts';
import { type Aftermath, besideSeconds, type Fault, type Stage } from '../fault.ts';
import { type Greed, startGreedy } from '../greedy.ts';
import { hugePage, withHugeMetadata, withManyEvents } from './hoards.ts';

type Greedy = Pick<Fault, 'name' | 'about'> & {
  /** What must be there before; it is measured neither as quiet nor as noise. */
  readonly prepare?: (db: Database, stage: Stage) => Promise<() => Promise<unknown>>;
  /** What is made after the quiet time: see {@link Fault.arrange}. */
  readonly arrange?: (db: Database, stage: Stage) => Promise<void>;
  /** Begins the noise. @returns what ends it */
  readonly begin: (stage: Stage, db: Database) => Promise<() => Promise<Aftermath>>;
};

/** Something that callers of acme do, while globex is the neighbour. */
export function greedy({ name, about, prepare, arrange, begin }: Greedy): Fault {
  return {
    ...{ name: `neighbour: ${name}`, about, seconds: besideSeconds, neighbour: 'globex' },
    async prepare(stage) {
      const db = stage.around.openDatabase();
      const clean = await prepare?.(db, stage);
      return async () => {
        await clean?.();
        await db.destroy();
      };
    },
    async arrange(stage) {
      const db = stage.around.openDatabase();
      await arrange?.(db, stage);
      await db.destroy();
    },
    async begin(stage) {
      const db = stage.around.openDatabase();
      const end = await begin(stage, db);
      return async () => {
        const aftermath = await end();
        await db.destroy();
        return aftermath;
      };
    },
  };
}

/** Asks until the end. */
function asking(stage: Stage, greed: Greed): () => Promise<Aftermath> {
  const stop = startGreedy(stage, greed);
  return async () => {
    const { asked, by } = await stop();
    return { acted: asked >= greed.callers && (by['lost'] ?? 0) < asked };
  };
}

const get = { method: 'GET' } as const;

export const neighbourFaults: readonly Fault[] = [
  greedy({
    name: 'a locked row',
    about: '20 requests of another company wait for one row',
    async begin(stage, db) {
      const [rwa = ''] = stage.around.world.acme.rwas;
      const tx = await db.transaction();
      await tx.raw('SELECT FROM rwas WHERE id = ? FOR UPDATE', [rwa]);
      const stop = asking(stage, { callers: 20, method: 'POST', path: `/v1/api/rwa/${rwa}/mint` });
      return async () => {
        await tx.rollback();
        return stop();
      };
    },
  }),
  greedy({
    name: 'deep offsets',
    about: '40 pages at offset 90,000 at once',
    prepare: withManyEvents,
    begin: async (stage) =>
      asking(stage, { ...get, callers: 40, path: '/events/v1/api/event?limit=200&offset=90000' }),
  }),
  greedy({
    name: 'unbounded lists',
    about: '12 callers of 150 MB who do not read',
    prepare: withManyEvents,
    async begin({ around, service }) {
      const text = requestText('/events/v1/api/event', around.world.acme.otherKey);
      const ports = service.apis().map(({ port }) => port);
      const callers = startRawCallers({ ports, connections: 12, text, reads: false });
      return async () => {
        const { connected } = await callers.leave();
        return { acted: connected === 12 };
      };
    },
  }),
  greedy({
    name: 'huge metadata',
    about: '12 callers of pages of 100 NFTs with 1 MB of metadata each',
    prepare: withHugeMetadata,
    begin: async (stage) => asking(stage, { ...get, callers: 12, path: hugePage }),
  }),
];
