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
  const { input } = session.channel();
  const isPerson = 'isTTY' in input && input.isTTY === true && !session.output().json;
  const message = `${question}? Type yes:`;
  const answer = isPerson ? await session.prompt({ message, fault: () => undefined }) : undefined;
  if (answer === undefined) throw new UsageError('Nobody can be asked: add --yes. Nothing was done.');
  if (answer !== 'yes') throw new UsageError('Nothing was done.');
}
