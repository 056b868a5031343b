import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * What an index knows of its own gaps: blocks whose receipts lack logs, heights without a block, and how far times of
 * blocks go back in seconds. `latest_time` is the latest time of all blocks, in seconds since 1970. `entry_points` are
 * contracts that check user operations in addition to those of ERC-4337.
 */
export const up = (knex: Knex): Promise<void> =>
  runStatements(
    knex,
    `
    ALTER TABLE index_state ADD COLUMN incomplete_blocks bigint NOT NULL DEFAULT 0,
      ADD COLUMN empty_heights bigint NOT NULL DEFAULT 0,
      ADD COLUMN time_back bigint NOT NULL DEFAULT 0,
      ADD COLUMN latest_time bigint;

    ALTER TABLE networks ADD COLUMN entry_points text[] NOT NULL DEFAULT '{}'
      CHECK (array_to_string(entry_points, ',', '-') ~ '^((0x[0-9a-fA-F]{40})(,|$))*$');
  `,
  );
