import { UsageError } from './failure.ts';
import type { Session } from './session.ts';

/**
 * Asks before something is done that cannot be undone.
 * @param question without its question mark
 * @param yes whether the command line said so already
 * @throws UsageError when the answer is no, or when nobody can be asked
 */
export async function confirm(session: Session, question: string, yes: true | undefined): Promise<void> {
  if (yes === true) return;
  const answer = session.output().json ? undefined : await session.ask(`${question}? Type yes: `);
  if (answer === undefined) throw new UsageError('Nobody can be asked: add --yes. Nothing was done.');
  if (answer.trim() !== 'yes') throw new UsageError('Nothing was done.');
}
