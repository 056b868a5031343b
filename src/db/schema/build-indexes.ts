import type { Knex } from 'knex';

/**
 * Builds indexes while writes to their tables go on, for a migration without a transaction. One that was cut off while
 * it was built is built again.
 * @param definitions what follows `ON` of each, by the name of the index; it begins with the table's name
 */
export async function buildIndexes(
  knex: Knex,
  definitions: Readonly<Record<string, string>>,
  kind: 'UNIQUE' | '' = '',
): Promise<void> {
  for (const [name, definition] of Object.entries(definitions)) {
    const [table = ''] = definition.split(' ');
    // PostgreSQL cannot do it concurrently with writes where an operator has partitioned the table.
    const how = (await isParted(knex, table)) ? '' : 'CONCURRENTLY';
    await knex.raw(`DROP INDEX ${how} IF EXISTS ${name}`);
    await knex.raw(`CREATE ${kind} INDEX ${how} ${name} ON ${definition}`);
  }
}

async function isParted(knex: Knex, table: string): Promise<boolean> {
  const { rows } = await knex.raw('SELECT relkind FROM pg_class WHERE oid = to_regclass(?)', [table]);
  return rows[0]?.relkind === 'p';
}
