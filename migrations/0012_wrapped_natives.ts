import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

/** Which contracts of a network wrap its native asset; those that were known by code so far are filled in. */
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    ALTER TABLE networks ADD COLUMN wrapped_natives text[] NOT NULL DEFAULT '{}'
      CHECK (array_to_string(wrapped_natives, ',', '-') ~ '^((0x[0-9a-fA-F]{40})(,|$))*$');

    UPDATE networks n SET wrapped_natives = ARRAY[known.address]
    FROM (VALUES
      (1::bigint, '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'),
      (10, '0x4200000000000000000000000000000000000006'),
      (137, '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270'),
      (8453, '0x4200000000000000000000000000000000000006'),
      (42161, '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1')
    ) AS known (chain_id, address) WHERE n.chain_id = known.chain_id;
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
