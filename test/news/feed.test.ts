import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { issueKey } from '../../src/keys/key-store.ts';
import { createFeedWatch } from '../../src/news/feed/feed-watch.ts';
import { createNewsPurges } from '../../src/news/feed/purge-store.ts';
import { numberNews } from '../../src/news/feed/sequencer-store.ts';
import { givenEvent } from '../events/requests.ts';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { feedPath, writeNews } from './news-world.ts';

const ids = (count: number) => Array.from({ length: count }, () => randomUUID());

describe('200', () => {
  test('gives the news of the company in their order, page by page, and of no other', async ({
    db,
    acme,
    globex,
  }) => {
    const { id } = await givenEvent(acme, { maxAttendees: 1 });
    await acme.post(`/events/v1/api/event/${id}/attendees`).send({ attendeeId: 'ann' }).expect(201);
    await givenEvent(globex);
    await numberNews(db, 100);
    const { body: first } = await acme.get(`${feedPath}?limit=2`).expect(200);
    expect(first.hasMore).toBe(true);
    const { body: second } = await acme.get(`${feedPath}?after=${first.cursor}`).expect(200);
    expect(second.hasMore).toBe(false);
    const news = [...first.news, ...second.news];
    expect(news.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(news.map(({ type }) => type).sort()).toEqual(['attendee.added', 'event.created', 'event.full']);
    expect(news.map(({ previous }) => previous)).toEqual([null, 1, 2]);
    expect(news[0]).toMatchObject({ data: { eventId: id, href: `/events/v1/api/event/${id}` } });
    const { body: behindTwo } = await acme.get(`${feedPath}?after=${news[1].cursor}`).expect(200);
    expect(behindTwo.news).toEqual([news[2]]);
    const { body: end } = await acme.get(`${feedPath}?after=${second.cursor}`).expect(200);
    expect(end).toEqual({ news: [], cursor: second.cursor, hasMore: false });
    const { body: other } = await globex.get(feedPath).expect(200);
    expect(other.news).toHaveLength(1);
  });

  test('gives news of chosen types; `previous` counts those only', async ({ db, acme, service }) => {
    const [subject = ''] = ids(1);
    const company = service.companies.acme;
    for (const type of ['nft.queued', 'nft.submitted', 'nft.minted', 'nft.reverted', 'nft.minted'])
      await writeNews(db, company, [subject], type);
    await numberNews(db, 100);
    const { body } = await acme.get(`${feedPath}?types=nft.minted,nft.queued&limit=200`).expect(200);
    const news = body.news.filter(({ data }: { data: { href: string } }) => data.href.endsWith(subject));
    expect(news.map(({ type }: { type: string }) => type)).toEqual([
      'nft.queued',
      'nft.minted',
      'nft.minted',
    ]);
    expect(news.map(({ previous }: { previous: number }) => previous)).toEqual([
      null,
      news[0].sequence,
      news[1].sequence,
    ]);
  });

  test('waits for news as `Prefer` says, uses no connection meanwhile, and answers when they are numbered', async ({
    db,
    acme,
    service,
  }) => {
    const { body: now } = await acme.get(`${feedPath}?limit=200`).expect(200);
    const asked = acme
      .get(`${feedPath}?after=${now.cursor}`)
      .set('Prefer', 'respond-async, wait=20')
      .expect(200);
    const waiting = asked.then((answer) => answer);
    const { activity } = {
      activity: async () =>
        (await db('pg_stat_activity').where({ usename: 'test_api', state: 'active' })).length,
    };
    await expect.poll(activity).toBe(0);
    await writeNews(db, service.companies.acme, ids(1));
    await numberNews(db, 100);
    const { body, headers } = await waiting;
    expect(body.news).toHaveLength(1);
    expect(headers['preference-applied']).toBe('wait=20');
  });

  test.for([
    ['that was revoked meanwhile', { revoked_at: new Date() }, 401, 'api_key_invalid'],
    ['that lost its scope meanwhile', { scopes: ['rwa:read'] }, 403, 'insufficient_scope'],
  ] as const)(
    'shows a waiting reader nothing by a key %s',
    async ([_what, change, status, code], { db, service }) => {
      const companyId = service.companies.acme;
      const { key, record } = await issueKey(service.db, 'test', {
        companyId,
        label: 'reader',
        scopes: ['news:manage'],
      });
      const reader = service.as(key);
      const { body: now } = await reader.get(`${feedPath}?limit=200`).expect(200);
      const asked = reader.get(`${feedPath}?after=${now.cursor}`).set('Prefer', 'wait=30');
      const waiting = asked.then((answer) => answer);
      await expect.poll(() => service.parts.feedWatch.waiting()).toBe(1);
      await service.db('api_keys').where({ id: record.id }).update(change);
      // Every process knows by now.
      await expect
        .poll(async () => (await reader.get(`${feedPath}?after=${now.cursor}`)).status, { timeout: 15_000 })
        .toBe(status);
      await writeNews(db, companyId, ids(1));
      await numberNews(db, 100);
      const { status: answered, body } = await waiting;
      expect([answered, body.code, body.news]).toEqual([status, code, undefined]);
    },
  );

  test('waits no longer than asked, and not for news of other types', async ({ db, acme, service }) => {
    const { body: now } = await acme.get(`${feedPath}?limit=200`).expect(200);
    const waiting = acme
      .get(`${feedPath}?after=${now.cursor}&types=nft.failed`)
      .set('Prefer', 'wait=1')
      .expect(200);
    const answered = waiting.then((answer) => answer);
    await writeNews(db, service.companies.acme, ids(1));
    await numberNews(db, 100);
    const { body } = await answered;
    expect(body).toMatchObject({ news: [], hasMore: false });
    // It does not read again what it has read.
    expect(body.cursor).not.toBe(now.cursor);
  });

  test('lets 20 readers of a key wait, more than requests are admitted, and answers a further one at once', async ({
    db,
    acme,
    globex,
    service,
  }) => {
    const { body: now } = await acme.get(`${feedPath}?limit=200`).expect(200);
    const read = () => acme.get(`${feedPath}?after=${now.cursor}`).set('Prefer', 'wait=30').expect(200);
    const readers = Array.from({ length: 20 }, () => read().then((answer) => answer));
    await expect.poll(() => service.parts.feedWatch.waiting()).toBe(20);
    const { body, headers } = await read();
    expect([body.news, headers['preference-applied']]).toEqual([[], 'wait=0']);
    await acme.get('/v1/api/rwa').expect(200);
    const { body: ofOther } = await globex.get(`${feedPath}?limit=200`).expect(200);
    const other = globex.get(`${feedPath}?after=${ofOther.cursor}`).set('Prefer', 'wait=30');
    const waiting = other.expect(200).then((answer) => answer);
    await expect.poll(() => service.parts.feedWatch.waiting()).toBe(21);
    for (const company of [service.companies.acme, service.companies.globex])
      await writeNews(db, company, ids(1));
    await numberNews(db, 100);
    for (const answer of await Promise.all([...readers, waiting])) {
      expect(answer.body.news).toHaveLength(1);
      expect(answer.headers['preference-applied']).toBe('wait=30');
    }
  });

  test('lets 100 readers of a company wait, whatever their keys', async () => {
    const watch = await createFeedWatch({ subscribe: async () => () => {} });
    const begin = (companyId: string, key: number) => watch.begin({ companyId, keyId: `key ${key}` });
    const waiting = Array.from({ length: 120 }, (_, index) => begin('acme', Math.floor(index / 20)));
    expect(waiting.filter((place) => place !== undefined)).toHaveLength(100);
    expect(begin('globex', 0)).toBeDefined();
    waiting[0]?.end();
    expect(begin('acme', 9)).toBeDefined();
  });

  test('ends its wait when the service stops', async ({ acme, service }) => {
    const other = await service.twin();
    const client = other.as(service.keys.acme);
    const { body: now } = await acme.get(`${feedPath}?limit=200`).expect(200);
    const waiting = client.get(`${feedPath}?after=${now.cursor}`).set('Prefer', 'wait=60').expect(200);
    const answered = waiting.then((answer) => answer);
    await expect.poll(() => other.parts.feedWatch.waiting()).toBe(1);
    other.parts.feedWatch.close();
    expect((await answered).body.news).toEqual([]);
    await other.close();
  });

  test('forgets a reader who has left', async ({ acme, service }) => {
    const { body: now } = await acme.get(`${feedPath}?limit=200`).expect(200);
    const leaving = new AbortController();
    const address = `${service.baseUrl}${feedPath}?after=${now.cursor}`;
    const headers = { 'x-api-key': service.keys.acme, prefer: 'wait=60' };
    const reading = fetch(address, { headers, signal: leaving.signal }).catch(() => {});
    await expect.poll(() => service.parts.feedWatch.waiting()).toBe(1);
    leaving.abort();
    await reading;
    await expect.poll(() => service.parts.feedWatch.waiting()).toBe(0);
  });
});

describe('400', () => {
  test('rejects an altered cursor, and one of another company', async ({ acme, globex }) => {
    const { body } = await acme.get(feedPath).expect(200);
    for (const [client, after] of [
      [globex, body.cursor],
      [acme, `x${body.cursor.slice(1)}`],
      [acme, 'nonsense'],
    ] as const) {
      const answer = await client.get(`${feedPath}?after=${after}`).expect(400);
      expect(answer.body).toMatchObject({ code: 'cursor_invalid', errors: [{ in: 'query', name: 'after' }] });
    }
  });
});

describe('410', () => {
  const followRestart = async (client: Client, after: string) => {
    const { body, headers } = await client
      .get(`${feedPath}?after=${after}&types=event.updated&limit=200`)
      .expect(410);
    expect(body.code).toBe('feed_restarted');
    const [, path = ''] = /^<([^>]+)>; rel="next"$/.exec(String(headers['link'])) ?? [];
    expect(path).toContain(`after=${headers['x-next-cursor']}`);
    return (await client.get(path).expect(200)).body.news;
  };

  test('leads to the oldest news after a restore from a dump', async ({ db, acme, service }) => {
    await writeNews(db, service.companies.acme, ids(3));
    await numberNews(db, 100);
    const { body } = await acme.get(`${feedPath}?limit=200`).expect(200);
    // As pg_restore leaves it: the same rows in a table that was created again.
    await db.raw(
      'CREATE TABLE restored (LIKE news INCLUDING ALL); INSERT INTO restored OVERRIDING SYSTEM VALUE SELECT * FROM news',
    );
    await db.raw('DROP TABLE news; ALTER TABLE restored RENAME TO news');
    await db.raw('GRANT ALL ON news TO test_api, test_worker');
    const news = await followRestart(acme, body.cursor);
    expect(news.length).toBeGreaterThanOrEqual(3);
  });

  test('notices a restore that leaves no trace: other news have the number that the reader knows', async ({
    db,
    acme,
    service,
  }) => {
    await writeNews(db, service.companies.acme, ids(2));
    await numberNews(db, 100);
    const { body: before } = await acme.get(`${feedPath}?limit=200`).expect(200);
    const [last] = before.news.slice(-1);
    // A snapshot of the disk goes back to before the last news; then something else happens.
    await db('news').where({ id: last.id }).delete();
    await db('news_feeds').where({ company_id: service.companies.acme }).decrement('last_position', 1);
    await acme.get(`${feedPath}?after=${before.cursor}`).expect(410);
    await writeNews(db, service.companies.acme, ids(1));
    await numberNews(db, 100);
    const news = await followRestart(acme, before.cursor);
    expect(news.map(({ sequence }: { sequence: number }) => sequence)).toContain(last.sequence);
  });

  test('leads on where the feed keeps less; who has read all goes on', async ({ db, globex, service }) => {
    const company = service.companies.globex;
    const { body: start } = await globex.get(feedPath).expect(200);
    await writeNews(db, company, ids(5));
    await numberNews(db, 100);
    const { body: all } = await globex.get(`${feedPath}?limit=200`).expect(200);
    await db('news')
      .where({ company_id: company })
      .update({ created_at: db.raw("now() - interval '31 days'") });
    await writeNews(db, company, ids(2));
    await numberNews(db, 100);
    const [purgeNews] = createNewsPurges(30);
    expect(await purgeNews?.(db, 1_000)).toBe(all.news.length);
    const news = await followRestart(globex, start.cursor);
    expect(news).toHaveLength(2);
    const { body: rest } = await globex.get(`${feedPath}?after=${all.cursor}`).expect(200);
    expect(rest.news).toEqual(news.map((each: object) => ({ ...each, cursor: expect.any(String) })));
  });
});
