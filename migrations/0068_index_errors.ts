import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * Why the last step of an index failed. In a cluster, `index_state` is on every node, so nobody can change it while a
 * worker is stopped. This table stays on the coordinator, and has the error just then. A step that succeeds removes it.
 */
export const up = (knex: Knex): Promise<void> =>
  runStatements(
    knex,
    `
    CREATE TABLE index_errors (
      chain_id bigint PRIMARY KEY,
      message text NOT NULL,
      happened_at timestamptz NOT NULL
    );
  `,
  );
