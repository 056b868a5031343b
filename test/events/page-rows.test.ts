import { expect } from 'vitest';
import { type PageRow, pageRowsSql } from '../../src/events/page-rows.ts';
import { test } from '../support/fixtures.ts';

const rowsOf = `SELECT * FROM events WHERE company_id = ? ORDER BY created_at DESC, id DESC LIMIT 200`;

// An array of equal addresses takes 76 times as much in memory as in the table.
test('events are read up to 256 kB, however far PostgreSQL has compressed them', async ({ db, service }) => {
  const { acme } = service.companies;
  const address = `https://a.example/${'x'.repeat(1_980)}`;
  await db.raw(
    `INSERT INTO events (company_id, name, gallery_images, contract_required_to_attend)
     SELECT ?, 'event ' || n, array_fill(?::text, ARRAY[20]), array_fill(?::text, ARRAY[20]) FROM generate_series(1, 200) n`,
    [acme, address, address],
  );
  const { rows }: { rows: PageRow[] } = await db.raw(pageRowsSql(rowsOf), [acme]);
  const whole = rows.filter(({ is_left: isLeft }) => !isLeft);
  // The bound is passed by one event at most.
  expect([rows.length, whole.length]).toEqual([200, 4]);
  expect(rows.filter(({ gallery_images: images }) => images !== null)).toHaveLength(4);
});
