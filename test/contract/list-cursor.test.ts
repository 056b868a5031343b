import { describe, expect } from 'vitest';
import { addRwa } from '../rwa/samples.ts';
import { perFile, test } from '../support/fixtures.ts';

type Item = { readonly id?: string; readonly attendeeId?: string };
type Answer = { readonly body: Item[] | { readonly rwas: Item[] }; readonly headers: Record<string, string> };

const events = '/events/v1/api/event';
const idOf = ({ id, attendeeId }: Item) => id ?? attendeeId;
const itemsOf = ({ body }: Answer) => (Array.isArray(body) ? body : body.rwas);
const pathOf = ({ headers }: Answer) => /^<(.+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];

const lists = test.extend('paths', perFile, async ({ service, acme }) => {
  const { db, companies } = service;
  const rwas = [];
  for (const name of ['First', 'Second', 'Third']) rwas.push(await addRwa(db, companies.acme, { name }));
  for (const { id } of rwas) await acme.post(`/v1/api/rwa/${id}/nfts`).send({ count: 5 }).expect(200);
  // Several of one moment, finer than a millisecond.
  await db.raw(
    `INSERT INTO events (company_id, name, created_at, start_date)
       SELECT ?, 'event ' || n, timestamptz '2026-01-01' + n / 3 * interval '1 microsecond', timestamptz '2027-01-01'
       FROM generate_series(1, 11) AS n`,
    [companies.acme],
  );
  const { id: eventId } = await db('events').where({ company_id: companies.acme }).first('id');
  await db.raw(
    `INSERT INTO attendees (company_id, event_id, attendee_id)
       SELECT ?, ?, 'user ' || n FROM generate_series(1, 9) AS n`,
    [companies.acme, eventId],
  );
  return {
    rwas: '/v1/api/rwa?isClaimable=false',
    nfts: '/v1/api/nft?claimed=false&updatedSince=2020-01-01T00:00:00Z',
    nftsOfRwa: `/v1/api/rwa/${rwas[1]?.id.toUpperCase()}/nfts?claimStatus=unclaimed`,
    events: `${events}?startsFrom=2026-12-31`,
    attendees: `${events}/${eventId}/attendees?`,
  };
});

const names = ['rwas', 'nfts', 'nftsOfRwa', 'events', 'attendees'] as const;

// That cursors lead to the end, once to each row, `stable-cursor.test.ts` shows.
describe('200', () => {
  lists.for(names)('a page with the last of the %s leads no further', async (name, { acme, paths }) => {
    const whole = itemsOf(await acme.get(`${paths[name]}&limit=200`).expect(200));
    expect(pathOf(await acme.get(`${paths[name]}&limit=${whole.length}`).expect(200))).toBeUndefined();
    expect(pathOf(await acme.get(`${paths[name]}&limit=${whole.length - 1}`).expect(200))).toBeDefined();
  });

  lists.for(names)(
    'a cursor of the %s goes on from any offset, with another limit',
    async (name, { acme, paths }) => {
      const whole = itemsOf(await acme.get(`${paths[name]}&limit=200`).expect(200)).map(idOf);
      const offset = name === 'attendees' ? '' : '&offset=1';
      const first: Answer = await acme.get(`${paths[name]}&limit=1${offset}`).expect(200);
      const link = new URL(pathOf(first) ?? '', 'http://here');
      expect(link.searchParams.has('offset')).toBe(false);
      const next: Answer = await acme
        .get(`${paths[name]}&limit=2&cursor=${link.searchParams.get('cursor')}`)
        .expect(200);
      const from = offset === '' ? 1 : 2;
      expect(itemsOf(next).map(idOf)).toEqual(whole.slice(from, from + 2));
    },
  );

  lists('a cursor without limit gives all that is behind it', async ({ acme, paths }) => {
    for (const list of [paths.events, paths.attendees]) {
      const whole = itemsOf(await acme.get(list).expect(200)).map(idOf);
      const page: Answer = await acme.get(`${list}&limit=3`).expect(200);
      const rest: Answer = await acme.get(`${list}&cursor=${page.headers['x-next-cursor']}`).expect(200);
      expect(itemsOf(rest).map(idOf)).toEqual(whole.slice(3));
      expect(rest.headers['x-next-cursor']).toBeUndefined();
    }
  });
});

describe('400', () => {
  lists.for(names)(
    'refuses cursors of the %s that are altered or of another list, company or filter',
    async (name, { acme, globex, paths }) => {
      const cursorOf = async (path: string) => {
        const page: Answer = await acme.get(`${path}&limit=1`).expect(200);
        return new URL(pathOf(page) ?? '', 'http://here').searchParams.get('cursor') ?? '';
      };
      const cursor = await cursorOf(paths[name]);
      const other = await cursorOf(paths[name === 'rwas' ? 'nfts' : 'rwas']);
      const turned = cursor.slice(0, 12) + (cursor[12] === 'A' ? 'B' : 'A') + cursor.slice(13);
      const wrong = [turned, cursor.slice(0, -1), `${cursor}=`, `${cursor}AAAA`, 'x', other];
      for (const text of wrong) {
        const { body } = await acme.get(`${paths[name]}&cursor=${encodeURIComponent(text)}`).expect(400);
        expect(body).toMatchObject({ code: 'cursor_invalid', errors: [{ in: 'query', name: 'cursor' }] });
      }
      const [plain = ''] = paths[name].split('?');
      if (name !== 'attendees') await acme.get(`${plain}?cursor=${cursor}`).expect(400);
      await globex.get(`${paths[name]}&cursor=${cursor}`).expect(400);
    },
  );

  lists('refuses an offset beside a cursor, unless it is the first', async ({ acme, paths }) => {
    const { headers } = await acme.get(`${paths.nfts}&limit=1`).expect(200);
    const behind = `${paths.nfts}&cursor=${headers['x-next-cursor']}`;
    await acme.get(`${behind}&offset=0`).expect(200);
    const { body } = await acme.get(`${behind}&offset=1`).expect(400);
    expect(body.errors).toMatchObject([{ in: 'query', name: 'offset' }]);
  });
});
