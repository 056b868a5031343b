import { randomUUID } from 'node:crypto';
import type { Client } from '../../support/service.ts';
import { eventPath } from '../requests.ts';

type Scan = Readonly<Record<string, unknown>>;

/** What a check-in says of a scan. */
export type Result = {
  readonly attendeeId: string | null;
  readonly by: string | null;
  readonly status: string;
  readonly scanId: string | null;
  readonly checkedInAt: string | null;
  readonly checkedInGate: string | null;
  readonly label: string | null;
  readonly inside: boolean | null;
};

/** A time some seconds ago. */
export const ago = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

/** A scan of a user, some seconds ago, with an id of its own. */
export const scanOf = (attendeeId: string, seconds: number, more: Scan = {}) => ({
  attendeeId,
  scanId: randomUUID(),
  at: ago(seconds),
  ...more,
});

/** An undo of a scan, a second ago. */
export const undoOf = (undoes: string, more: Scan = {}) => ({
  kind: 'undo',
  undoes,
  scanId: randomUUID(),
  at: ago(1),
  ...more,
});

export const checkinPath = (eventId: string) => `${eventPath}/${eventId}/checkin`;

/** Sends scans, and gives the results. */
export async function send(client: Client, eventId: string, ...scans: Scan[]): Promise<Result[]> {
  return (await client.post(checkinPath(eventId)).send({ scans }).expect(200)).body.items;
}

/** The same, of which only the statuses. */
export const statusesOf = async (client: Client, eventId: string, ...scans: Scan[]): Promise<string[]> =>
  (await send(client, eventId, ...scans)).map(({ status }) => status);

export type Attendee = {
  readonly attendeeId: string;
  readonly checkedInAt: string | null;
  readonly inside: boolean | null;
};

/** The attendees of an event, by their id. */
export async function attendeesOf(client: Client, eventId: string): Promise<Map<string, Attendee>> {
  const { body } = await client.get(`${eventPath}/${eventId}/attendees`).expect(200);
  return new Map((body as Attendee[]).map((attendee) => [attendee.attendeeId, attendee]));
}
