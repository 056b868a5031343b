import type { Stage } from '../fault.ts';

const manyEvents = 100_000;

/** Events of acme that are 150 MB as one list, next to the few of the load. @returns what removes them */
export async function withManyEvents({ around, world }: Stage): Promise<() => Promise<void>> {
  const db = around.openDatabase();
  await db.raw(
    `INSERT INTO events (company_id, name, description)
     SELECT ?, 'Many ' || n, repeat('What happens there. ', 60) FROM generate_series(1, ${manyEvents}) n`,
    [world.acme.id],
  );
  // What the server does by itself while rows come one after the other.
  await db.raw('VACUUM ANALYZE events');
  return async () => {
    await db.raw("DELETE FROM events WHERE name LIKE 'Many %'");
    await db.raw('VACUUM ANALYZE events');
    await db.destroy();
  };
}
