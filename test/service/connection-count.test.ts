import { expect } from 'vitest';
import { generateKey } from '../../src/keys/key-format.ts';
import { test } from '../support/fixtures.ts';
import { startMain } from '../support/process.ts';

const poolMax = 2;
// docs/operate/database.md: the pool, and one that listens.
const most = poolMax + 1;

test('a process of all roles opens no more connections than its documentation says', async ({
  db,
  databaseUrl,
}) => {
  const main = startMain(databaseUrl, { DATABASE_POOL_MAX: String(poolMax) });
  const [, port] = await main.until(/"port":(\d+)/);
  const count = async (): Promise<number> => {
    const { rows } = await db.raw(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'tallystick %:${main.child.pid}'
         OR datname = current_database() AND application_name = 'tallystick listener'`,
    );
    return rows[0].count;
  };
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/v1/api/rwa`, { headers: { 'x-api-key': generateKey('live') } });
  const counts: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([...Array.from({ length: 30 }, ask), count().then((found) => counts.push(found))]);
  }
  expect(Math.max(...counts)).toBeGreaterThan(1);
  expect(Math.max(...counts)).toBeLessThanOrEqual(most);
  const { rows } = await db.raw(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name NOT LIKE 'tallystick %'`,
  );
  expect(rows).toEqual([]);
  main.child.kill('SIGTERM');
  expect(await main.ended).toBe(0);
});
