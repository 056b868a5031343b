import type { Command } from 'commander';
import { migrateToLatest } from '../db/migrate.ts';
import { examples } from './examples.ts';
import { asOperator, assertCurrent, type Session } from './session.ts';

/** `tallystick migrate`: the database's schema. */
export function addMigrateCommand(program: Command, session: Session): void {
  const migrate = program
    .command('migrate')
    .description('Bring the database schema to the version of this release; safe to run again')
    .option('--status', 'only list what is pending; exit status 1 when anything is')
    .action((options: { status?: true }) =>
      asOperator(
        session,
        async ({ db, output, state }) => {
          assertCurrent({ ...state, pending: [] });
          if (options.status) {
            output.rows(named(state.pending), { name: 'PENDING' });
            if (state.pending.length > 0) session.fail();
            return;
          }
          const run = await migrateToLatest(db);
          output.rows(named(run), { name: 'MIGRATED' });
          output.say(run.length === 0 ? 'The schema is current.' : `${run.length} migration(s) done.`);
        },
        { schema: 'any' },
      ),
    );
  examples(migrate, 'migrate', 'migrate --status');
}

const named = (names: readonly string[]) => names.map((name) => ({ name }));
