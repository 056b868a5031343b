import type { Client, TestService } from '../support/service.ts';

/** The collection of events. */
export const eventPath = '/events/v1/api/event';

/** A UUID that no event has. */
export const unknownId = '00000000-0000-4000-8000-000000000000';

type Body = Readonly<Record<string, unknown>>;

/** Creates an event and gives its id and entity tag. */
export async function givenEvent(client: Client, body: Body = {}): Promise<{ id: string; etag: string }> {
  const created = await client
    .post(eventPath)
    .send({ name: 'Spring fair', ...body })
    .expect(201);
  return { id: created.body.id, etag: String(created.headers['etag']) };
}

/** Texts at the door as `scans` of a check-in: those with two dots are tickets, the others user IDs. */
export const scansOf = (...texts: string[]) => ({
  scans: texts.map((text) => (text.split('.').length === 3 ? { ticket: text } : { attendeeId: text })),
});

/** Makes an event like those that were created before release 0.3.0, whose check-in takes user IDs as `items`. */
export async function makeOld({ db }: Pick<TestService, 'db'>, id: string): Promise<void> {
  await db('events').where({ id }).update({ ids_in_items: true });
}

/** Registers users for an event, one after the other. */
export async function givenAttendees(client: Client, id: string, ...attendeeIds: string[]): Promise<void> {
  for (const attendeeId of attendeeIds)
    await client.post(`${eventPath}/${id}/attendees`).send({ attendeeId }).expect(201);
}

/**
 * Sends while a table of the service is locked and, once that many transactions wait for it, does something
 * else meanwhile: what a request does between its start and its end, made as long as a test needs.
 * @returns what the sent requests came to after the table was unlocked
 */
export async function heldUp<T>(
  { db }: TestService,
  { table, waiting }: { readonly table: 'events' | 'attendees'; readonly waiting: number },
  send: () => Promise<T>,
  meanwhile: () => Promise<void> = async () => {},
): Promise<T> {
  const { outcome } = await db.transaction(async (tx) => {
    await tx.raw(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    let isSettled = false;
    const outcome = send().finally(() => {
      isSettled = true;
    });
    outcome.catch(() => {}); // whoever awaits it is told
    const lockWaits = db('pg_locks').where({ granted: false, relation: db.raw('?::regclass', [table]) });
    while (!isSettled && (await lockWaits.clone()).length < waiting);
    await meanwhile();
    // In an object: a transaction waits for a promise that it returns, and this one waits for its end.
    return { outcome };
  });
  return outcome;
}
