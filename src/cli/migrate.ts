import type { Command } from 'commander';
import { prepareDatabase } from '../compose/migrate.ts';
import { findMissingRights } from '../db/schema/role-store.ts';
import { assertInRange, assertSupported, newerSchema } from '../db/schema/schema-check.ts';
import {
  distributeIndex,
  findCitusWorkers,
  findShards,
} from '../providers/indexer/store/rollback/distribute-store.ts';
import { recordByOperator } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { OperationError } from './shared/failure.ts';
import { asOperator, type Operator, type Session } from './shared/session.ts';
import { wholeNumber } from './shared/values.ts';

type Options = { readonly status?: true; readonly distribute?: true; readonly shards?: number };

const usualShards = 32;

export function addMigrateCommand(program: Command, session: Session): void {
  const migrate = program
    .command('migrate')
    .description('Bring the database schema to the version of this release; safe to run again')
    .option('--status', 'only list pending migrations; exit status 1 when there are any')
    .option('--distribute', 'then spread the index over the nodes of Citus; safe to run again')
    .option(
      '--shards <count>',
      `with --distribute: parts of the index, a few for each core (default: ${usualShards})`,
      wholeNumber(1, 64_000),
    )
    .action((options: Options) =>
      asOperator(
        session,
        async (operator) => {
          const { db, output, state } = operator;
          assertSupported(state);
          assertInRange(state);
          if (options.status) {
            // The end of the schema may have been cut off.
            const left = state.pending.length > 0 ? state.pending : await findMissingRights(db);
            output.rows(named(left), { name: 'PENDING' });
            if (left.length > 0) session.fail();
            return;
          }
          const newer = newerSchema(state);
          if (newer !== undefined) {
            output.rows([], { name: 'MIGRATED' });
            output.say(`The schema is ${newer}: there is nothing to do.`);
            return;
          }
          if (options.distribute) await assertCluster(operator);
          const { run, missingGroups, statementForOwner } = await prepareDatabase(db, async (migrations) => {
            await recordByOperator(db, { action: 'migrate', subject: null, details: { migrations } });
          });
          output.rows(named(run), { name: 'MIGRATED' });
          output.say(run.length === 0 ? 'The schema is current.' : `${run.length} migration(s) done.`);
          if (missingGroups.length > 0) output.say(askForGroups(missingGroups));
          if (statementForOwner !== undefined) {
            output.say(
              `Everybody may make temporary tables here. Let the owner of the database run: ${statementForOwner}`,
            );
          }
          // If the index is distributed, the tables that a release adds are distributed too.
          const shards = await findShards(db);
          if (options.distribute) await distribute(operator, options.shards, shards);
          else if (shards !== undefined) await distributeRest(operator, shards);
        },
        { schema: 'any' },
      ),
    );
  examples(migrate, 'migrate', 'migrate --status', 'migrate --distribute --shards 64');
}

const askForGroups = (missing: readonly string[]) =>
  'This database user may not create groups, so users with few rights cannot be made yet; all else is done. ' +
  `To have them, let an administrator run: ${missing.map((name) => `CREATE ROLE ${name} NOLOGIN;`).join(' ')} ` +
  'Then run again: tallystick migrate';

const named = (names: readonly string[]) => names.map((name) => ({ name }));

async function assertCluster({ db }: Operator): Promise<void> {
  const workers = await findCitusWorkers(db);
  if (workers === undefined) {
    throw new OperationError(
      'The database has no Citus, so there is nothing to spread the index over. Load it on every node ' +
        "(shared_preload_libraries = 'citus'), run CREATE EXTENSION citus in this database on each, and try again.",
    );
  }
  if (workers === 0) {
    throw new OperationError(
      "Citus knows no worker node yet. Add each: SELECT citus_add_node('host', 5432), and try again.",
    );
  }
}

/** @param present over how many shards the index is spread already */
async function distribute(
  { db, output }: Operator,
  wanted: number | undefined,
  present: number | undefined,
): Promise<void> {
  const progress = output.progress('Spreading the index');
  try {
    const placements = await distributeIndex(db, {
      shards: wanted ?? usualShards,
      onTable: (done, total) => progress.update(done, total),
    });
    progress.stop();
    output.rows(placements, { table: 'TABLE', placement: 'LIES', moved: 'MOVED' });
    output.say('The index is spread over the cluster.');
    if (wanted !== undefined && present !== undefined && wanted !== present) {
      output.say(otherShards(wanted, present));
    }
  } finally {
    progress.stop();
  }
}

async function distributeRest({ db, output }: Operator, shards: number): Promise<void> {
  const placements = await distributeIndex(db, { shards, onTable: () => {} });
  const moved = placements.filter((placement) => placement.moved).map(({ table }) => table);
  if (moved.length > 0)
    output.say(`Spread over the cluster like the rest of the index: ${moved.join(', ')}.`);
}

const otherShards = (wanted: number, present: number) =>
  `It has ${present} shards and keeps them: --shards ${wanted} counts only when the index is spread for the first time. ` +
  `To change it, while no indexer writes, run in the database: ` +
  `SELECT alter_distributed_table('wallet_history', shard_count => ${wanted}, cascade_to_colocated => true);`;
