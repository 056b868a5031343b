import { expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { deleteAttendee, registerAttendee } from '../../src/events/attendee-store.ts';
import { countOneLess, lockEvent } from '../../src/events/event-store.ts';
import { test } from '../support/fixtures.ts';

const rounds = 400;
const attendeeId = 'somebody';

type Key = { readonly companyId: string; readonly eventId: string };

async function changeMost(db: Database, { companyId, eventId }: Key, most: number | null): Promise<void> {
  await inTransaction(db, async (tx) => {
    const event = await lockEvent(tx, companyId, eventId);
    if (most !== null && most < (event?.totalAttendees ?? 0)) return;
    await tx('events').where({ id: eventId }).update({ max_attendees: most });
  });
}

async function leave(db: Database, { companyId, eventId }: Key): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockEvent(tx, companyId, eventId);
    if (await deleteAttendee(tx, companyId, eventId, attendeeId)) await countOneLess(tx, companyId, eventId);
  });
}

test('who registers while the event is closed and opened is registered or told that it is full', async ({
  db,
  service,
}) => {
  const companyId = service.companies.acme;
  const [{ id: eventId }] = await db('events')
    .insert({ company_id: companyId, name: 'Fair' })
    .returning('id');
  const key = { companyId, eventId };
  const refusals = new Set<string>();
  const repeat = async (work: (round: number) => Promise<unknown>) => {
    for (let round = 0; round < rounds; round += 1) await work(round);
  };
  const register = () =>
    registerAttendee(db, { ...key, attendeeId }).catch(({ message }: Error) => refusals.add(message));
  await Promise.all([
    ...[repeat(register), repeat(register)],
    ...[repeat(() => leave(db, key)), repeat(() => leave(db, key))],
    ...[0, 1].map((first) => repeat((round) => changeMost(db, key, (first + round) % 2 === 0 ? null : 0))),
  ]);
  expect([...refusals].sort()).toEqual(['Attendee already invited', 'Event is full']);
  const event = await db('events').where({ id: eventId }).first('total_attendees');
  const attendees = await db('attendees').where({ event_id: eventId });
  expect(event?.['total_attendees']).toBe(attendees.length);
});
