import type { ClientBase } from 'pg';
import type { Database } from '../contract/transaction.ts';
import { inBackground } from '../request-scope.ts';

/** Has the plans of named statements made anew when they may no longer be good. */
export type PlanRenewal = {
  /** To be called before each named statement, on its connection. */
  beforeStatement(connection: ClientBase): void;
};

type RenewalOptions = {
  /** Whose connections they are; asked for the sizes. */
  readonly db: () => Database;
  /** In milliseconds. */
  readonly now?: () => number;
};

/** What a process runs before it looks again: an idle one does not look. */
const statementsBetween = 500;
const restMs = 1_000;
/** Of a smaller table no plan is bad, and to make them again takes some milliseconds on each connection. */
const smallBytes = 256 * 1024;

const sizesSql = `
  SELECT relname AS name, pg_relation_size(oid)::float8 AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`;

/**
 * The server plans a named statement once on each connection, and again when it analyses a table, which it does a minute
 * after rows came. Of a table with few rows, all ways to them cost the same: the one to a row by its id may go through all of
 * its company, and stays so while thousands come. So plans are made anew when a table is twice as large as when they were made;
 * what it was before the first look is unknown, and counts as small.
 */
export function createPlanRenewal({ db, now = () => performance.now() }: RenewalOptions): PlanRenewal {
  const renewedAt = new WeakMap<ClientBase, number>();
  let renewals = 0;
  let sizes: ReadonlyMap<string, number> = new Map();
  let statements = 0;
  let nextLook = now() + restMs;

  const look = async (): Promise<void> => {
    const { rows }: { rows: { name: string; bytes: number | null }[] } = await db().raw(sizesSql);
    const found = new Map(rows.map(({ name, bytes }) => [name, Math.max(smallBytes, bytes ?? 0)]));
    const hasGrown = [...found].some(([name, bytes]) => bytes >= 2 * (sizes.get(name) ?? smallBytes));
    if (!hasGrown) return;
    sizes = found;
    renewals += 1;
  };

  return {
    beforeStatement(connection) {
      statements += 1;
      if (statements >= statementsBetween && now() >= nextLook) {
        [statements, nextLook] = [0, now() + restMs];
        // What fails is looked at the next time.
        void inBackground(look).catch(() => {});
      }
      const known = renewedAt.get(connection);
      if (known === renewals) return;
      renewedAt.set(connection, renewals);
      // Nothing is planned yet on a new one. It is refused where the statement behind it is, too.
      if (known !== undefined) void connection.query('DISCARD PLANS').catch(() => {});
    },
  };
}
