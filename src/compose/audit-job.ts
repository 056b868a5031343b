import { chainAudit, findHead, linkText } from '../db/records/audit-chain-store.ts';
import type { Parts } from './parts.ts';

const hour = 3_600_000;

/**
 * Makes the job that chains the audit log. It logs the head of the chain at its first run and then once an hour: a log is kept
 * apart from the database, so `tallystick audit verify --noted` finds out by it whether an end was cut off or written again.
 * @param now milliseconds
 */
export function createAuditJob(
  { db, log }: Pick<Parts, 'db' | 'log'>,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let due = now();
  return async () => {
    await chainAudit(db);
    if (now() < due) return;
    log.info({ head: linkText(await findHead(db)) }, 'head of the audit chain');
    due = now() + hour;
  };
}
