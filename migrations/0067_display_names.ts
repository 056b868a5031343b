import type { Knex } from 'knex';

export { down } from '../src/db/forward-only.ts';

/** What customers read as the name of a company: on the claim page, on sheets of codes and in the metadata of tokens. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'ALTER TABLE companies ADD COLUMN display_name text CHECK (length(display_name) BETWEEN 1 AND 255)',
  );
}
