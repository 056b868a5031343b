import { expect } from 'vitest';
import { namedOnly } from '../../src/events/event-fields.ts';
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
