import type { Knex } from 'knex';

/**
 * What the processes of the service think of each node of a network, so that the operator's command can tell since
 * when. Written when it changes; the last process that changed its mind counts.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE node_states (
      chain_id bigint NOT NULL REFERENCES networks ON DELETE CASCADE,
      node text NOT NULL,
      state text NOT NULL,
      reason text NOT NULL,
      since timestamptz NOT NULL,
      PRIMARY KEY (chain_id, node)
    )
  `);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
