import { hostname, userInfo } from 'node:os';
import type { Database, Tx } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { type AuditEntry, recordAudit } from '../../db/records/audit-store.ts';

/** The user of the system that runs the command. */
const operator = () =>
  ({ kind: 'operator', name: userName(), host: `${hostname()}:${process.pid}` }) as const;

/** A container may run as a user whom its list of users does not have. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

type Told = Omit<AuditEntry, 'companyId'> & { readonly companyId?: string | null };

/** Stores that the operator changes or reveals something. */
export const recordByOperator = (db: Database, { companyId = null, ...entry }: Told): Promise<void> =>
  recordAudit(db, [{ ...entry, companyId, by: operator() }]);

/**
 * Runs a change in one transaction with its entry in the audit log.
 * @param entry of the change, from the result; undefined when nothing changed
 */
export function audited<T>(
  db: Database,
  work: (tx: Tx) => Promise<T>,
  entry: (result: T) => Told | undefined,
): Promise<T> {
  return inTransaction(db, async (tx) => {
    const result = await work(tx);
    const told = entry(result);
    if (told !== undefined) await recordByOperator(tx, told);
    return result;
  });
}
