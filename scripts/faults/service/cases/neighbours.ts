import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Database } from '../../../../src/contract/transaction.ts';
import { foldCounts } from '../../../../src/db/list-counts-store.ts';
import { chainId } from '../../../bench/mint/bench-chain.ts';
import type { GreedyTask } from '../../../load/greedy-process.ts';
import { requestText, startRawCallers, strangerAddress } from '../../../load/raw-callers.ts';
import type { Fault, Stage } from '../fault.ts';

const greedyProgram = path.resolve(import.meta.dirname, '../../../load/greedy-process.ts');

/** As many callers of acme as wanted, each of whom asks again as soon as it is answered. */
function startGreedy(
  { service, around }: Stage,
  task: Pick<GreedyTask, 'callers' | 'method' | 'path'>,
): () => Promise<unknown> {
  const asking = fork(greedyProgram);
  const ports = service.apis().map(({ port }) => port);
  asking.send({
    ...task,
    ports,
    key: around.world.acme.otherKey,
    address: strangerAddress,
  } satisfies GreedyTask);
  return async () => {
    const ended = once(asking, 'exit');
    // Whoever waits for an answer goes without it.
    asking.disconnect();
    await ended;
  };
}

const manyEvents = 100_000;

type Greedy = Pick<Fault, 'name' | 'about'> & {
  /** What must be there before; it is measured neither as quiet nor as noise. */
  readonly prepare?: (db: Database, stage: Stage) => Promise<() => Promise<unknown>>;
  /** Begins the noise. @returns what ends it */
  readonly begin: (stage: Stage, db: Database) => Promise<() => Promise<unknown>>;
};

/** Something that callers of acme do, while globex is the neighbour. */
function greedy({ name, about, prepare, begin }: Greedy): Fault {
  return {
    ...{ name: `neighbour: ${name}`, about, seconds: 20, neighbour: 'globex' },
    async prepare(stage) {
      const db = stage.around.openDatabase();
      const clean = await prepare?.(db, stage);
      return async () => {
        await clean?.();
        await db.destroy();
      };
    },
    async begin(stage) {
      const db = stage.around.openDatabase();
      const end = await begin(stage, db);
      return async () => {
        await end();
        await db.destroy();
        return {};
      };
    },
  };
}

/** Beside the few events of the load. */
async function withManyEvents(db: Database, { around }: Stage) {
  await db.raw(
    `INSERT INTO events (company_id, name, description)
     SELECT ?, 'Many ' || n, repeat('What happens there. ', 60) FROM generate_series(1, ${manyEvents}) n`,
    [around.world.acme.id],
  );
  await settleCounts(db);
  return async () => {
    await db.raw("DELETE FROM events WHERE name LIKE 'Many %'");
    await settleCounts(db);
  };
}

/** What workers and the server do by themselves while rows come one after the other. */
async function settleCounts(db: Database): Promise<void> {
  while ((await foldCounts(db)) > 0);
  await db.raw('VACUUM ANALYZE events, list_counts, list_changes');
}

const collector = '0x00000000000000000000000000000000000c0113';
const contract = '0x00000000000000000000000000000000000c0112';

/** A wallet with 100 NFTs whose metadata have 1 MB each, as anybody may mint them. */
async function withHugeMetadata(db: Database) {
  const names = { chain: Number(chainId), contract, collector };
  const bytes = (name: string) => `decode(substr(:${name}, 3), 'hex')`;
  await db.raw(
    `INSERT INTO token_contracts (chain_id, contract, standard, read_at) VALUES (:chain, ${bytes('contract')}, 721, now())`,
    names,
  );
  await db.raw(
    `INSERT INTO nft_tokens (chain_id, contract, token_id, standard, token_uri, uri_read_at, metadata, metadata_read_at)
     SELECT :chain, ${bytes('contract')}, n, 721, 'https://example.com/' || n, now(), '{"name":"' || repeat('x', 1000000) || '"}', now()
     FROM generate_series(1, 100) n`,
    names,
  );
  await db.raw(
    `INSERT INTO nft_holdings (chain_id, wallet, contract, token_id, standard, amount, acquired_block, acquired_log, changed_block)
     SELECT :chain, ${bytes('collector')}, ${bytes('contract')}, n, 721, 1, 1, n, 1 FROM generate_series(1, 100) n`,
    names,
  );
  return async () => {
    for (const table of ['nft_holdings', 'nft_tokens', 'token_contracts']) {
      await db.raw(`DELETE FROM ${table} WHERE chain_id = :chain AND contract = ${bytes('contract')}`, names);
    }
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
      const stop = startGreedy(stage, { callers: 20, method: 'POST', path: `/v1/api/rwa/${rwa}/mint` });
      return async () => {
        await tx.rollback();
        await stop();
      };
    },
  }),
  greedy({
    name: 'deep offsets',
    about: '40 pages at offset 90,000 at once',
    prepare: withManyEvents,
    begin: async (stage) =>
      startGreedy(stage, { ...get, callers: 40, path: '/events/v1/api/event?limit=200&offset=90000' }),
  }),
  greedy({
    name: 'unbounded lists',
    about: '12 callers of 150 MB who do not read',
    prepare: withManyEvents,
    async begin({ around, service }) {
      const text = requestText('/events/v1/api/event', around.world.acme.otherKey);
      const ports = service.apis().map(({ port }) => port);
      const callers = startRawCallers({ ports, connections: 12, text, reads: false });
      return async () => callers.leave();
    },
  }),
  greedy({
    name: 'huge metadata',
    about: '12 callers of pages of 100 NFTs with 1 MB of metadata each',
    prepare: withHugeMetadata,
    begin: async (stage) =>
      startGreedy(stage, {
        ...{ ...get, callers: 12 },
        path: `/blockchain/v1/api/nft?chainId=${chainId}&address=${collector}&limit=100`,
      }),
  }),
];
