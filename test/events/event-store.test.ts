import { expect } from 'vitest';
import { namedOnly } from '../../src/events/event-fields.ts';
import { listEvents } from '../../src/events/event-list-store.ts';
import { insertEvent, updateEvent } from '../../src/events/event-store.ts';
import { test } from '../support/fixtures.ts';

test('tells of a network that left the registry after the registry was asked', async ({ database }) => {
  const { db } = database;
  const gone = { ...namedOnly('Fair'), chainId: '77' };
  await expect(db.transaction((tx) => insertEvent(tx, 'acme', gone))).rejects.toMatchObject({
    code: 'network_not_found',
    message: 'Network with chainId 77 not found',
  });
  const { id } = await db.transaction((tx) => insertEvent(tx, 'acme', namedOnly('Fair')));
  const change = db.transaction((tx) => updateEvent(tx, 'acme', id, gone));
  await expect(change).rejects.toMatchObject({ code: 'network_not_found' });
});

test('lists events of one moment in one order, page by page', async ({ database }) => {
  const { db } = database;
  const at = new Date('2027-01-01T00:00:00Z');
  const rows = Array.from({ length: 9 }, (_, n) => ({ company_id: 'globex', name: `${n}`, created_at: at }));
  await db('events').insert(rows);
  const whole = await listEvents(db, 'globex', {}, { limit: 200 });
  const pages = await Promise.all(
    [0, 3, 6, 9].map((offset) => listEvents(db, 'globex', {}, { limit: 3, offset })),
  );
  expect(pages.flat()).toEqual(whole);
  expect(whole).toHaveLength(9);
});
