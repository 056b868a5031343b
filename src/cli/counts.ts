import type { Command } from 'commander';
import { type ListName, listNames } from '../db/list-levels.ts';
import { findWrongCounters, recount, type WrongCounters } from '../db/list-recount-store.ts';
import { audited } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { asOperator, type Operator, type Session } from './shared/session.ts';

const whole = { isWhole: true };
const columns = { list: 'LIST', companyId: 'COMPANY', counters: 'WRONG COUNTERS' };

/** `tallystick counts`: whether lists say how many rows they have. */
export function addCountsCommands(program: Command, session: Session): void {
  const counts = program
    .command('counts')
    .description('The counters by which lists of NFTs, RWAs and events know their totals');
  const verify = counts
    .command('verify')
    .description('Compare every counter with the rows; exit status 1 when one is wrong')
    .action(() =>
      asOperator(
        session,
        async (operator) => {
          const wrong = await findWrong(operator);
          operator.output.rows(wrong, columns);
          if (wrong.length === 0) return operator.output.say('Every list says how many rows it has.');
          operator.output.say('Count them anew: tallystick counts repair');
          session.fail();
        },
        whole,
      ),
    );
  examples(verify, 'counts verify');
  const repair = counts
    .command('repair')
    .description(
      'Count the lists with wrong counters anew, as after a restore of data alone; callers notice nothing',
    )
    .action(() =>
      asOperator(
        session,
        async (operator) => {
          const wrong = await findWrong(operator);
          await countAnew(operator, wrong);
          operator.output.rows(wrong, columns);
          operator.output.say(
            wrong.length === 0 ? 'Every list says how many rows it has.' : 'They are counted anew.',
          );
        },
        whole,
      ),
    );
  examples(repair, 'counts repair');
}

async function findWrong({ db, output }: Operator): Promise<WrongCounters[]> {
  const progress = output.progress('Comparing');
  const found: WrongCounters[] = [];
  try {
    for (const [done, list] of listNames.entries()) {
      progress.update(done, listNames.length);
      found.push(...(await findWrongCounters(db, list)));
    }
    return found;
  } finally {
    progress.stop();
  }
}

async function countAnew({ db, output }: Operator, wrong: readonly WrongCounters[]): Promise<void> {
  const lists: readonly ListName[] = listNames.filter((list) => wrong.some((each) => each.list === list));
  const progress = output.progress('Counting');
  try {
    for (const [done, list] of lists.entries()) {
      progress.update(done, lists.length);
      await audited(
        db,
        (tx) => recount(tx, list),
        () => ({ action: 'counts.repair', subject: list }),
      );
    }
  } finally {
    progress.stop();
  }
}
