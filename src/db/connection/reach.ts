import type { Database, Tx } from '../../contract/transaction.ts';
import type { SessionLimits } from './session-limits.ts';

/** What statements must know of the way to the server. */
export type Reach = {
  /** What each transaction must set for itself; undefined where the session has it. */
  readonly transactionLimits: SessionLimits | undefined;
  /** Whether a connection may keep statements under names. */
  readonly namesStatements: boolean;
};

type WithReach = (Database | Tx) & { readonly userParams: Reach };

/** Returns the options of `createDatabase`. Knex keeps them for us, but its types lack them. */
export const reachOf = (db: Database | Tx): Reach => (db as WithReach).userParams;
