import { expect } from 'vitest';
import { createRandom } from '../../minting/chance.ts';
import { test } from '../../support/fixtures.ts';
import type { Client } from '../../support/service.ts';
import { givenAttendees, givenEvent } from '../requests.ts';
import { attendeesOf, checkinPath, scanOf, send, undoOf } from './door-scans.ts';
import { makeScans, modelOf, type Sent, uploadsOf } from './scan-model.ts';

const users = ['ann', 'bob', 'cid', 'dan'];

const bodyOf = ({ scanId, at, kind, gate, attendeeId, undoes }: Sent) => ({
  scanId,
  at: at.toISOString(),
  kind,
  ...(gate !== null && { gate }),
  ...(attendeeId !== undefined && { attendeeId }),
  ...(undoes !== null && { undoes }),
});

/** Uploads again what the service had too much to do for, as its answer asks. */
async function insist(client: Client, id: string, scans: readonly Sent[]): Promise<void> {
  for (;;) {
    const { status, body } = await client.post(checkinPath(id)).send({ scans: scans.map(bodyOf) });
    if (status !== 503) return expect([status, body]).toMatchObject([200, {}]);
  }
}

test('scans of five phones that upload at once come to the state of the model, and their news too', async ({
  acme,
  service,
  db,
}) => {
  const twin = await service.twin();
  const clients = [acme, twin.as(service.keys.acme)];
  const random = createRandom(11);
  for (let day = 0; day < 6; day += 1) {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, ...users);
    const scans = makeScans(random, 80, users, new Date());
    const uploads = uploadsOf(random, scans, 40);
    // Each phone sends one upload after the other, and all phones send at once.
    await Promise.all(
      [0, 1, 2, 3, 4].map(async (phone) => {
        for (const upload of uploads.filter((_, index) => index % 5 === phone))
          await insist(clients[phone % 2] ?? acme, id, upload);
      }),
    );
    const listed = (await acme.get(`${checkinPath(id)}/scans`).expect(200)).body;
    expect(listed).toHaveLength(scans.length);
    const attendees = await attendeesOf(acme, id);
    const news = await db('news').where({ subject: id }).whereLike('type', '%check%').orderBy('seq');
    for (const user of users) {
      const { statuses, checkedInAt, inside } = modelOf(scans, user, () => true);
      const own = listed.filter((scan: Sent) => scan.attendeeId === user && scan.kind !== 'undo');
      expect(
        Object.fromEntries(own.map((scan: Record<string, string>) => [scan['scanId'], scan['status']])),
      ).toEqual(statuses);
      expect(attendees.get(user)).toMatchObject({
        checkedInAt,
        inside: checkedInAt === null ? null : inside,
      });
      const told = news.filter(({ data }) => data.attendeeId === user).map(({ data }) => data.checkedInAt);
      expect(told.at(-1) ?? null).toBe(checkedInAt);
    }
  }
});

test('an undo and its scan that arrive at the same moment never miss each other', async ({
  acme,
  service,
}) => {
  const { id } = await givenEvent(acme);
  await givenAttendees(acme, id, 'ann');
  const other = (await service.twin()).as(service.keys.acme);
  for (let round = 0; round < 40; round += 1) {
    const scan = scanOf('ann', 60);
    await Promise.all([send(acme, id, scan), send(other, id, undoOf(scan.scanId))]);
    expect((await attendeesOf(acme, id)).get('ann')).toMatchObject({ checkedInAt: null });
  }
});

test('an id that two phones use for two attendees at the same moment is kept once', async ({
  acme,
  service,
}) => {
  const { id } = await givenEvent(acme);
  await givenAttendees(acme, id, 'ann', 'bob');
  const other = (await service.twin()).as(service.keys.acme);
  for (let round = 0; round < 20; round += 1) {
    const scan = scanOf('ann', 60);
    const results = await Promise.all([
      send(acme, id, scan),
      send(other, id, { ...scan, attendeeId: 'bob' }),
    ]);
    const statuses = results.flat().map(({ status }) => status);
    expect(statuses.filter((status) => status === 'scan_id_reused')).toHaveLength(1);
  }
});
