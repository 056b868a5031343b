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

/** Registers users for an event, one after the other. */
export async function givenAttendees(client: Client, id: string, ...attendeeIds: string[]): Promise<void> {
  for (const attendeeId of attendeeIds)
    await client.post(`${eventPath}/${id}/attendees`).send({ attendeeId }).expect(201);
}

/** A problem's body without what differs from request to request. */
export function withoutRequestId(body: Body): Body {
  const { requestId: _, ...rest } = body;
  return rest;
}

/**
 * Runs the work while a table of the service is locked, and lets go once `requests` of its transactions wait
 * for it: what a request does between its start and its end, made as long as a test needs.
 */
export async function whileWaiting(
  { db }: TestService,
  table: 'events' | 'attendees',
  requests: number,
  work: () => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.raw(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    const waiting = () =>
      db('pg_locks')
        .where({ relation: db.raw('?::regclass', [table]), granted: false })
        .count('* as count');
    let seen = 0;
    while (seen < requests) seen = Number((await waiting())[0]?.['count']);
    await work();
  });
}
