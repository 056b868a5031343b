import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { Knex } from 'knex';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished } from 'vitest';
import { test as base, perFile } from '../support/fixtures.ts';
import { shut, startListening } from '../support/listen.ts';
import type { Client } from '../support/service.ts';
import { endpointPath, startNewsWork, startReceiver, writeNews } from './news-world.ts';

const test = base.extend('serviceOptions', perFile, { settings: { WEBHOOK_HOSTS: '127.0.0.1' } });

const subjects = (count: number) => Array.from({ length: count }, () => randomUUID());

async function givenEndpoint(client: Client, url: string, more: object = {}) {
  const { body } = await client
    .post(endpointPath)
    .send({ url, ...more })
    .expect(201);
  onTestFinished(async () => {
    await client.delete(`${endpointPath}/${body.id}`);
  });
  return { id: String(body.id), secret: String(body.secret) };
}

const work = (databaseUrl: string, options: Parameters<typeof startNewsWork>[1] = {}) => {
  const working = startNewsWork(databaseUrl, options);
  onTestFinished(() => working.stop());
  return working;
};

const placeOf = async (db: Knex, id: string) =>
  Number((await db('news_endpoints').where({ id }).first('position')).position);
const lastOf = async (db: Knex, company: string) =>
  Number((await db('news_feeds').where({ company_id: company }).first('last_position')).last_position);

const deliveriesOf = async (client: Client, id: string) =>
  (await client.get(`${endpointPath}/${id}/deliveries`).expect(200)).body;

describe('a delivery', () => {
  test('is signed as Standard Webhooks says, and has what the feed has', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const receiver = await startReceiver();
    const { id, secret } = await givenEndpoint(acme, receiver.url);
    work(databaseUrl);
    const [subject = ''] = subjects(1);
    await writeNews(db, service.companies.acme, [subject, subject]);
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
    const [first, second] = receiver.received;
    if (first === undefined || second === undefined) throw new Error('nothing came');
    expect(new Webhook(secret).verify(first.text, first.headers as Record<string, string>)).toEqual(
      first.body,
    );
    expect(first.headers['webhook-id']).toBe(first.body.id);
    expect(second.body).toMatchObject({ previous: first.body.sequence, sequence: first.body.sequence + 1 });
    const { body: page } = await acme.get(`/news/v1/api/feed?after=${first.body.cursor}`).expect(200);
    expect(page.news).toEqual([second.body]);
    await expect
      .poll(async () => (await deliveriesOf(acme, id))[0])
      .toMatchObject({
        state: 'delivered',
        attempts: 1,
        status: 204,
        nextAttemptAt: null,
        newsId: second.body.id,
      });
  });

  test('gets chosen types only, with the `previous` of those', async ({ acme, databaseUrl, db, service }) => {
    const receiver = await startReceiver();
    await givenEndpoint(acme, receiver.url, { types: ['nft.minted'] });
    work(databaseUrl);
    const [subject = ''] = subjects(1);
    for (const type of ['nft.queued', 'nft.minted', 'nft.reverted', 'nft.minted'])
      await writeNews(db, service.companies.acme, [subject], type);
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
    const [first, second] = receiver.received.map(({ body }) => body);
    expect(first).toMatchObject({ type: 'nft.minted', previous: null });
    expect(second).toMatchObject({ type: 'nft.minted', previous: first?.sequence });
  });

  test('names as `previous` what the endpoint got, also after a change of its types', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const receiver = await startReceiver();
    const { id } = await givenEndpoint(acme, receiver.url, { types: ['nft.minted'] });
    work(databaseUrl);
    const [subject = ''] = subjects(1);
    const write = (type: string) => writeNews(db, service.companies.acme, [subject], type);
    const change = (types: readonly string[]) =>
      acme.patch(`${endpointPath}/${id}`).send({ types }).expect(200);
    // A change of the endpoint may have its last news sent again.
    const distinct = () => [...new Map(receiver.received.map(({ body }) => [body.id, body])).values()];
    const count = () => expect.poll(() => distinct().length, { timeout: 10_000 });
    await write('nft.minted');
    await write('nft.transferred');
    await count().toBe(1);
    await expect
      .poll(async () => (await placeOf(db, id)) === (await lastOf(db, service.companies.acme)))
      .toBe(true);
    await change(['nft.minted', 'nft.transferred']);
    await write('nft.transferred');
    await count().toBe(2);
    await change(['nft.transferred']);
    await write('nft.transferred');
    await count().toBe(3);
    await change(['nft.minted']);
    await write('nft.minted');
    await count().toBe(4);
    const sequences = distinct().map(({ sequence }) => sequence);
    expect(distinct().map(({ previous }) => previous)).toEqual([null, ...sequences.slice(0, 3)]);
  });

  test('is tried again with the same id, and the next of its subject waits; others do not', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const [ill = '', well = ''] = subjects(2);
    const state = { isIll: true };
    const receiver = await startReceiver(({ body }) => {
      const isRejected = state.isIll && String(body.data['href']).endsWith(ill);
      return isRejected ? { status: 500, text: `${'é'.repeat(600)}end` } : {};
    });
    const { id } = await givenEndpoint(acme, receiver.url);
    work(databaseUrl);
    await writeNews(db, service.companies.acme, [ill, ill, well, well]);
    const bodies = () => receiver.received.map(({ body }) => body);
    await expect
      .poll(() => bodies().filter(({ data }) => String(data['href']).endsWith(well)).length, {
        timeout: 10_000,
      })
      .toBe(2);
    await expect
      .poll(async () => (await deliveriesOf(acme, id)).at(-1))
      .toMatchObject({ state: 'pending', status: 500 });
    const [firstTry] = bodies().filter(({ data }) => String(data['href']).endsWith(ill));
    const { answer } = (await deliveriesOf(acme, id)).at(-1);
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(1_026);
    state.isIll = false;
    const ofFirst = new Set([firstTry?.id]);
    const isOther = (body: { id: string; data: Readonly<Record<string, unknown>> }) =>
      String(body.data['href']).endsWith(ill) && !ofFirst.has(body.id);
    await expect.poll(() => bodies().some(isOther), { timeout: 20_000 }).toBe(true);
    const ofIll = bodies().filter(({ data }) => String(data['href']).endsWith(ill));
    const last = ofIll.at(-1);
    // All tries but the last are of the first news.
    expect(new Set(ofIll.slice(0, -1).map((body) => body.id))).toEqual(new Set([firstTry?.id]));
    expect(last?.previous).toBe(firstTry?.sequence);
  });

  test('is not held up by what waits behind a subject that the endpoint rejects', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const [ill = '', well = ''] = subjects(2);
    const receiver = await startReceiver(({ body }) =>
      String(body.data['href']).endsWith(ill) ? { status: 500 } : {},
    );
    const { id } = await givenEndpoint(acme, receiver.url);
    await writeNews(db, service.companies.acme, [...Array<string>(1_200).fill(ill), well]);
    work(databaseUrl);
    const arrived = () => receiver.received.some(({ body }) => String(body.data['href']).endsWith(well));
    await expect.poll(arrived, { timeout: 20_000 }).toBe(true);
    // The outcome is stored after the answer.
    await expect
      .poll(async () => (await acme.get(`${endpointPath}/${id}`)).body, { timeout: 10_000 })
      .toMatchObject({ enabled: true, failingSince: null });
  });

  test('is tried again by its job, which outlives the sender that failed', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const receiver = await startReceiver((_got, count) => (count === 1 ? { status: 500 } : {}));
    const { id } = await givenEndpoint(acme, receiver.url);
    const first = work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(async () => (await deliveriesOf(acme, id))[0]?.status, { timeout: 10_000 }).toBe(500);
    await first.stop();
    // It begins before the next try is due, and polls once an hour.
    work(databaseUrl);
    await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(2);
    await expect.poll(async () => (await deliveriesOf(acme, id))[0]?.state).toBe('delivered');
  });

  test('is tried again although its job got lost', async ({ acme, databaseUrl, db, service }) => {
    const receiver = await startReceiver((_got, count) => (count === 1 ? { status: 500 } : {}));
    await givenEndpoint(acme, receiver.url);
    work(databaseUrl, { retries: 'fallback alone' });
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(2);
  });

  test('that was sent again has the same id', async ({ acme, databaseUrl, db, service }) => {
    const receiver = await startReceiver();
    const { id } = await givenEndpoint(acme, receiver.url);
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect
      .poll(async () => (await deliveriesOf(acme, id))[0]?.state, { timeout: 10_000 })
      .toBe('delivered');
    const [{ sequence, newsId }] = await deliveriesOf(acme, id);
    await acme.post(`${endpointPath}/${id}/deliveries/${sequence}/resend`).expect(200);
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
    expect(receiver.received.map(({ body }) => body.id)).toEqual([newsId, newsId]);
  });

  test('waits as long as `Retry-After` says, all others of the endpoint too', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const times: number[] = [];
    const receiver = await startReceiver((_got, count) => {
      times.push(performance.now());
      return count === 1 ? { status: 429, headers: { 'retry-after': '3' } } : {};
    });
    const { id } = await givenEndpoint(acme, receiver.url);
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(async () => (await deliveriesOf(acme, id))[0]?.status, { timeout: 10_000 }).toBe(429);
    const [{ attemptedAt, nextAttemptAt }] = await deliveriesOf(acme, id);
    expect(Date.parse(nextAttemptAt) - Date.parse(attemptedAt)).toBeGreaterThanOrEqual(2_990);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(3);
    const [rejected = 0, next = 0] = times;
    expect(next - rejected).toBeGreaterThanOrEqual(3_000);
  });
});

describe('the status of an answer decides once it is there', () => {
  const gzip = { 'content-encoding': 'gzip' };
  test.for([
    ['a body that is no gzip', 200, gzip, 'plain', true],
    ['an encoding that nobody knows', 200, { 'content-encoding': 'rot13' }, 'cynva', true],
    [
      'a chain of encodings that is none',
      200,
      { 'content-encoding': 'gzip, br, gzip, br, gzip, br, gzip' },
      'x',
      true,
    ],
    ['a body that is shorter than it says', 200, { 'content-length': '1000' }, 'short', true],
    ['a body that never ends', 202, {}, 'on and', false],
    ['a body that never begins', 201, { 'content-length': '10' }, '', false],
  ] as const)('%s', async ([, status, headers, text, ends], { acme, databaseUrl, db, service }) => {
    const asked: unknown[] = [];
    const server = createServer((request, response) => {
      asked.push(request.headers['accept-encoding']);
      response.writeHead(status, headers).flushHeaders();
      response.write(text, () => ends && request.socket.destroySoon());
    });
    onTestFinished(() => shut(server));
    const { id } = await givenEndpoint(acme, `http://127.0.0.1:${await startListening(server)}/`);
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect
      .poll(async () => (await deliveriesOf(acme, id))[0], { timeout: 10_000 })
      .toMatchObject({ state: 'delivered', attempts: 1, status });
    expect(asked).toEqual(['identity']);
  });
});

describe('an endpoint', () => {
  test('that answers 410 is disabled, and news say so', async ({ acme, databaseUrl, db, service }) => {
    const receiver = await startReceiver(() => ({ status: 410 }));
    const { id } = await givenEndpoint(acme, receiver.url, { types: ['event.updated'] });
    const watcher = await startReceiver();
    await givenEndpoint(acme, watcher.url, { types: ['endpoint.disabled'] });
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(() => watcher.received.length, { timeout: 10_000 }).toBe(1);
    expect(watcher.received[0]?.body.data).toMatchObject({ endpointId: id, reason: 'gone' });
    const { body } = await acme.get(`${endpointPath}/${id}`).expect(200);
    expect(body).toMatchObject({ enabled: false, disabledReason: 'gone' });
    await acme.patch(`${endpointPath}/${id}`).send({ enabled: true }).expect(200);
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
  });

  test('that has failed for five days is disabled; enabled again it gets all that it missed', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const state = { isDown: true };
    const receiver = await startReceiver(() => (state.isDown ? { status: 503 } : {}));
    const { id } = await givenEndpoint(acme, receiver.url);
    work(databaseUrl);
    const missed = subjects(3);
    await writeNews(db, service.companies.acme, missed);
    const endpoint = async () => (await acme.get(`${endpointPath}/${id}`).expect(200)).body;
    await expect.poll(async () => (await endpoint()).failingSince, { timeout: 10_000 }).not.toBeNull();
    await db('news_endpoints')
      .where({ id })
      .update({ failing_since: db.raw("now() - interval '6 days'") });
    const [{ sequence }] = await deliveriesOf(acme, id);
    await acme.post(`${endpointPath}/${id}/deliveries/${sequence}/resend`).expect(200);
    await expect.poll(async () => (await endpoint()).disabledReason, { timeout: 10_000 }).toBe('failing');
    const more = subjects(700);
    await writeNews(db, service.companies.acme, more);
    state.isDown = false;
    receiver.received.length = 0;
    await acme.patch(`${endpointPath}/${id}`).send({ enabled: true }).expect(200);
    const got = () =>
      new Set(receiver.received.map(({ body }) => body.data['eventId']).filter((id) => id !== undefined));
    await expect.poll(() => got().size, { timeout: 30_000 }).toBeGreaterThanOrEqual(703);
    for (const subject of [...missed, ...more]) expect(got()).toContain(subject);
    expect(await endpoint()).toMatchObject({ enabled: true, failingSince: null });
  });

  test('that does not answer delays no other by more than a second', async ({
    acme,
    globex,
    databaseUrl,
    db,
    service,
  }) => {
    const hole = await startReceiver(() => undefined);
    for (let count = 0; count < 5; count += 1) await givenEndpoint(acme, hole.url);
    const well = await startReceiver();
    await givenEndpoint(acme, well.url);
    const other = await startReceiver();
    await givenEndpoint(globex, other.url);
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(200));
    await expect.poll(() => hole.received.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(5);
    await expect.poll(() => well.received.length, { timeout: 15_000 }).toBe(200);
    const began = performance.now();
    await writeNews(db, service.companies.globex, subjects(1));
    await writeNews(db, service.companies.acme, subjects(1));
    await expect
      .poll(() => well.received.length + other.received.length, { timeout: 5_000, interval: 20 })
      .toBe(202);
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  test('whose secret is sealed with a missing key gets nothing, and the others get theirs', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const [sealed, well, later] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const { id } = await givenEndpoint(acme, sealed.url);
    await givenEndpoint(acme, well.url);
    await db('news_endpoints')
      .where({ id })
      .update({ secrets: ['lost:AAAA'] });
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(() => well.received.length, { timeout: 10_000 }).toBe(1);
    // Only the next look at all endpoints notices this one.
    await givenEndpoint(acme, later.url);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(() => later.received.length, { timeout: 10_000 }).toBe(1);
    expect(sealed.received).toEqual([]);
  });

  test('of which nothing can be stored stops only itself, and goes on without a restart', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const [broken, well] = [await startReceiver(), await startReceiver()];
    const { id } = await givenEndpoint(acme, broken.url);
    await givenEndpoint(acme, well.url);
    const unstorable = (change: string) => db.raw(`ALTER TABLE news_deliveries ${change}`);
    await unstorable(`ADD CONSTRAINT test_unstorable CHECK (endpoint_id <> '${id}') NOT VALID`);
    const repair = () => unstorable('DROP CONSTRAINT IF EXISTS test_unstorable');
    onTestFinished(async () => {
      await repair();
    });
    const running = work(databaseUrl);
    let hasFailed = false;
    void running.failed.then(() => {
      hasFailed = true;
    });
    for (let sent = 1; sent <= 3; sent += 1) {
      await writeNews(db, service.companies.acme, subjects(1));
      await expect.poll(() => well.received.length, { timeout: 10_000 }).toBe(sent);
    }
    expect(broken.received).toEqual([]);
    await repair();
    await expect.poll(() => broken.received.length, { timeout: 10_000 }).toBe(3);
    expect(hasFailed).toBe(false);
  });

  test('whose secret is rotated gets both signatures until the old one ends', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const receiver = await startReceiver();
    const { id, secret: old } = await givenEndpoint(acme, receiver.url);
    const { body } = await acme.post(`${endpointPath}/${id}/secret`).send({}).expect(200);
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(1);
    const [both] = receiver.received;
    if (both === undefined) throw new Error('nothing came');
    const headers = both.headers as Record<string, string>;
    for (const secret of [old, body.secret])
      expect(new Webhook(secret).verify(both.text, headers)).toEqual(both.body);
    await acme.post(`${endpointPath}/${id}/secret`).send({ overlapHours: 0 }).expect(200);
    await expect
      .poll(
        async () => {
          await acme.post(`${endpointPath}/${id}/test`).expect(202);
          return String(receiver.received.at(-1)?.headers['webhook-signature']).split(' ').length;
        },
        { timeout: 10_000, interval: 500 },
      )
      .toBe(1);
    const last = receiver.received.at(-1);
    expect(() =>
      new Webhook(body.secret).verify(last?.text ?? '', last?.headers as Record<string, string>),
    ).toThrow();
  });

  test('gets its test messages, and those of no other', async ({ acme, databaseUrl }) => {
    const [one, other] = [await startReceiver(), await startReceiver()];
    const { id } = await givenEndpoint(acme, one.url, { types: ['nft.minted'] });
    await givenEndpoint(acme, other.url);
    work(databaseUrl);
    const { body } = await acme.post(`${endpointPath}/${id}/test`).expect(202);
    await expect.poll(() => one.received.length, { timeout: 10_000 }).toBe(1);
    expect(one.received[0]?.body).toMatchObject({
      id: body.id,
      type: 'endpoint.test',
      data: { endpointId: id },
    });
    expect(other.received).toEqual([]);
  });
});

describe('an address', () => {
  test('that redirects is not followed', async ({ acme, databaseUrl, db, service }) => {
    const target = await startReceiver();
    const receiver = await startReceiver(() => ({ status: 307, headers: { location: target.url } }));
    const { id } = await givenEndpoint(acme, receiver.url);
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect.poll(async () => (await deliveriesOf(acme, id))[0]?.status, { timeout: 10_000 }).toBe(307);
    expect(target.received).toEqual([]);
  });

  test('is checked at each delivery: what the operator no longer allows is not contacted', async ({
    acme,
    databaseUrl,
    db,
    service,
  }) => {
    const receiver = await startReceiver();
    const { id } = await givenEndpoint(acme, receiver.url);
    work(databaseUrl, { allowedHosts: [] });
    await writeNews(db, service.companies.acme, subjects(1));
    await expect
      .poll(async () => (await deliveriesOf(acme, id))[0]?.error, { timeout: 10_000 })
      .toBe('127.0.0.1 is no public host');
    expect(receiver.received).toEqual([]);
  });

  test('without any address is told like one inside', async ({ acme, databaseUrl, db, service }) => {
    const { body } = await acme.post(endpointPath).send({ url: 'https://nobody.invalid/' }).expect(201);
    work(databaseUrl);
    await writeNews(db, service.companies.acme, subjects(1));
    await expect
      .poll(async () => (await deliveriesOf(acme, body.id))[0]?.error, { timeout: 15_000 })
      .toBe('nobody.invalid is no public host');
  });
});
