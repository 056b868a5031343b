import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { assertEndpointKeysOpen } from '../../src/news/endpoints/endpoint-keys.ts';
import { createEndpointSecrets } from '../../src/news/endpoints/endpoint-secret.ts';
import { hostOf, isEndpointUrl } from '../../src/news/endpoints/endpoint-url.ts';
import { watchNews } from '../../src/news/feed/news-levels.ts';
import { createNewsPurges } from '../../src/news/feed/purge-store.ts';
import { numberNews } from '../../src/news/feed/sequencer-store.ts';
import { retryAfterMs, waitAfter } from '../../src/news/sending/retry-schedule.ts';
import { takeOver } from '../../src/news/sending/sender-store.ts';
import { asUser } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { endpointPath, writeNews } from './news-world.ts';

const url = 'https://partner.example/news';
const subject = '0194f1f2-0000-4000-8000-00000000000a';

describe('createEndpoint', () => {
  test('201: shows the secret once, stores it sealed, and tells the audit log of the address', async ({
    db,
    acme,
  }) => {
    const { body, headers } = await acme
      .post(endpointPath)
      .send({ url, types: ['nft.minted'] })
      .expect(201);
    expect(headers['location']).toBe(`${endpointPath}/${body.id}`);
    expect(body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    const stored = await db('news_endpoints').where({ id: body.id }).first();
    expect(JSON.stringify(stored)).not.toContain(body.secret.slice('whsec_'.length));
    const shown = await acme.get(`${endpointPath}/${body.id}`).expect(200);
    const { secret: _secret, ...rest } = body;
    expect(shown.body).toEqual(rest);
    expect(shown.text).not.toContain('whsec_');
    const entry = await db('audit_log').where({ subject: body.id }).first();
    expect(entry).toMatchObject({ action: 'endpoint.create', details: { url: 'https://partner.example/…' } });
  });

  test.for([
    'http://partner.example/news',
    'https://127.0.0.1/news',
    'https://10.1.2.3/news',
    'https://[::1]/news',
    'https://[fd00::1]/news',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/news',
    'https://printer.localhost/news',
    'https://localhost./news',
    'https://printer.localhost./news',
    'https://partner.example../news',
    'https://.partner.example/news',
    'https://2130706433/news',
    'https://user:password@partner.example/news',
    'ftp://partner.example/news',
    'partner.example',
  ])('400: rejects %s', async (wrong, { acme }) => {
    const { body } = await acme.post(endpointPath).send({ url: wrong }).expect(400);
    expect(body.errors).toMatchObject([{ in: 'body', pointer: '/url' }]);
  });

  test('400: rejects a type that there is not', async ({ acme }) => {
    await acme
      .post(endpointPath)
      .send({ url, types: ['nft.lost'] })
      .expect(400);
    await acme.post(endpointPath).send({ url, types: [] }).expect(400);
  });

  test('409: no company has more than twenty, however many it creates at once', async ({ globex }) => {
    const sent = (n: number) => globex.post(endpointPath).send({ url: `https://partner-${n}.example/news` });
    for (let n = 0; n < 18; n += 1) await sent(n).expect(201);
    const answers = await Promise.all([18, 19, 20, 21].map(sent));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('endpoint_limit_reached');
    const { body } = await globex.get(endpointPath).expect(200);
    for (const { id } of body) await globex.delete(`${endpointPath}/${id}`).expect(204);
    expect((await globex.get(endpointPath).expect(200)).body).toEqual([]);
  });
});

describe('the address of an endpoint', () => {
  const hidden = 'https://Hooks.Partner.example:443/T0/%7Esecret path?token=s3cret#here';
  const used = 'https://hooks.partner.example/T0/%7Esecret%20path?token=s3cret';

  test('is stored as it is used, its host in clear and the rest sealed', async ({ db, acme }) => {
    const idempotent = { 'idempotency-key': randomUUID() };
    const made = await acme.post(endpointPath).set(idempotent).send({ url: hidden }).expect(201);
    const { id } = made.body;
    expect(made.body.url).toBe(used);
    const again = await acme.post(endpointPath).set(idempotent).send({ url: hidden }).expect(201);
    expect(again.body).toEqual(made.body);
    expect((await acme.get(`${endpointPath}/${id}`).expect(200)).body.url).toBe(used);
    const stored = await db('news_endpoints').where({ id }).first();
    expect(stored.url).toMatch(/^https:\/\/hooks\.partner\.example test:[\w+/=]+$/);
    for (const table of ['news_endpoints', 'audit_log', 'idempotency_records'])
      expect([table, JSON.stringify(await db(table).select())]).toEqual([
        table,
        expect.not.stringMatching(/s3cret|%7Esecret/),
      ]);
    const changed = await acme
      .patch(`${endpointPath}/${id}`)
      .send({ url: `${used}2` })
      .expect(200);
    expect(changed.body.url).toBe(`${used}2`);
    expect((await db('news_endpoints').where({ id }).first()).url).not.toContain('s3cret');
    await acme.delete(`${endpointPath}/${id}`).expect(204);
  });

  test('is shown where release 0.2.0 stored it in clear', async ({ db, acme }) => {
    const { id } = (await acme.post(endpointPath).send({ url }).expect(201)).body;
    await db('news_endpoints')
      .where({ id })
      .update({ url: `${url}?old` });
    expect((await acme.get(`${endpointPath}/${id}`).expect(200)).body.url).toBe(`${url}?old`);
    await acme.delete(`${endpointPath}/${id}`).expect(204);
  });

  test('is read where release 0.2.0 stored it in clear with a space, which parts those that are sealed', async ({
    db,
    acme,
  }) => {
    const clear = 'https://old.example/a path?q=x y';
    const { body } = await acme.post(endpointPath).send({ url }).expect(201);
    await db('news_endpoints').where({ id: body.id }).update({ url: clear });
    const secrets = createEndpointSecrets(new Map([['k1', Buffer.alloc(32, 1)]]));
    expect(secrets.openUrl({ id: body.id, address: clear })).toBe(clear);
    expect(secrets.openUrl({ id: body.id, address: ` ${clear}` })).toBe(` ${clear}`);
    expect([hostOf(clear), hostOf(` ${clear}`)]).toEqual(['old.example', 'old.example']);
    expect((await acme.get(`${endpointPath}/${body.id}`).expect(200)).body.url).toBe(clear);
    // No other endpoint has a say in what a start finds.
    await db('news_endpoints').whereNot({ id: body.id }).delete();
    await db('news_endpoints').update({ secrets: [] });
    await expect(assertEndpointKeysOpen(db, secrets)).resolves.toBeUndefined();
    await acme.delete(`${endpointPath}/${body.id}`).expect(204);
  });

  test('that does not open any more hides only itself', async ({ db, acme }) => {
    const make = async () => (await acme.post(endpointPath).send({ url }).expect(201)).body.id;
    const [damaged, sound] = [await make(), await make()];
    await db('news_endpoints').where({ id: damaged }).update({ url: 'https://partner.example gone:AAAA' });
    const listed = (await acme.get(endpointPath).expect(200)).body;
    const urlOf = (id: string) => listed.find((one: { id: string }) => one.id === id)?.url;
    expect([urlOf(damaged), urlOf(sound)]).toEqual(['https://partner.example/…', url]);
    const path = `${endpointPath}/${damaged}`;
    expect((await acme.patch(path).send({ enabled: false }).expect(200)).body).toMatchObject({
      enabled: false,
    });
    expect((await acme.patch(path).send({ url }).expect(200)).body.url).toBe(url);
    for (const id of [damaged, sound]) await acme.delete(`${endpointPath}/${id}`).expect(204);
  });

  test.for([
    [
      'bücher.example',
      'BÜCHER.Example',
      'xn--bcher-kva.example',
      'b%C3%BCcher.example.',
      'bücher。example:8443',
    ],
    ['8.8.4.4', '0x8.8.4.4', '134743044', '8.8.1028', '010.8.4.4.'],
    [
      '[2606:4700::1]',
      '[2606:4700:0:0:0:0:0:1]',
      '[2606:4700::0.0.0.1]',
      '[2606:4700::1]:8443',
      '[2606:4700::0001]',
    ],
  ])('409: five spellings of %s are one host', async (hosts, { db, globex }) => {
    const at = (host = '') => globex.post(endpointPath).send({ url: `https://${host}/news` });
    for (const host of hosts) await at(host).expect(201);
    expect((await at(hosts[0]).expect(409)).body.code).toBe('endpoint_host_limit_reached');
    await db('news_endpoints').delete();
  });

  test('409: no more than five of a company name one host, and those that did stay', async ({
    db,
    globex,
  }) => {
    const at = (place: string) => globex.post(endpointPath).send({ url: place });
    const places = ['https://one.example/1', 'https://ONE.example/2', 'https://one.example:8443/3'];
    const ids: string[] = [];
    for (const place of [...places, 'https://one.example./4'])
      ids.push((await at(place).expect(201)).body.id);
    const both = await Promise.all([at('https://one.example/5'), at('https://one.example/6')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const rejected = both.find(({ status }) => status === 409)?.body;
    expect(rejected).toMatchObject({
      code: 'endpoint_host_limit_reached',
      detail: 'The company has 5 endpoints at one.example already',
    });
    const other = (await at('https://two.example/').expect(201)).body.id;
    const moved = await globex.patch(`${endpointPath}/${other}`).send({ url: places[0] }).expect(409);
    expect(moved.body.code).toBe('endpoint_host_limit_reached');
    // An earlier release let a company have more.
    await db('news_endpoints').where({ id: other }).update({ url: 'https://one.example/7' });
    await globex.patch(`${endpointPath}/${other}`).send({ url: 'https://one.example/8' }).expect(200);
    await db('news_endpoints').delete();
  });
});

test('the database user of workers creates no endpoint, and leads none elsewhere', async ({
  acme,
  databaseUrl,
}) => {
  const { id } = (await acme.post(endpointPath).send({ url }).expect(201)).body;
  const db = createDatabase(asUser(databaseUrl, 'test_worker'), {
    poolMax: 1,
    log: createLogger({ level: 'silent' }),
  });
  onTestFinished(() => db.destroy());
  for (const forbidden of [
    `INSERT INTO news_endpoints (id, company_id, url, secrets, first_position, position)
       SELECT gen_random_uuid(), company_id, url, secrets, 0, 0 FROM news_endpoints`,
    "UPDATE news_endpoints SET url = 'https://elsewhere.example/'",
    "UPDATE news_endpoints SET secrets = '{}'",
  ])
    await expect(db.raw(forbidden)).rejects.toThrow('permission denied for table news_endpoints');
  await db.raw('UPDATE news_endpoints SET failing_since = NULL WHERE id = ?', [id]);
  await acme.delete(`${endpointPath}/${id}`).expect(204);
});

describe('updateEndpoint', () => {
  test('200: takes any of the fields, and an endpoint that is sent back as a whole', async ({ acme }) => {
    const { body } = await acme.post(endpointPath).send({ url }).expect(201);
    const path = `${endpointPath}/${body.id}`;
    const changed = await acme
      .patch(path)
      .send({ types: ['event.full'], enabled: false })
      .expect(200);
    expect(changed.body).toMatchObject({
      url,
      types: ['event.full'],
      enabled: false,
      disabledReason: 'requested',
    });
    const back = await acme
      .patch(path)
      .send({ ...changed.body, url: `${url}/2`, types: null, enabled: true })
      .expect(200);
    expect(back.body).toMatchObject({ url: `${url}/2`, types: null, enabled: true, disabledReason: null });
    await acme.patch(path).send({ url: 'https://127.0.0.1/' }).expect(400);
  });

  test('409: an endpoint that stopped before what the feed keeps', async ({ db, acme, service }) => {
    await db('news_endpoints').delete();
    const { body } = await acme.post(endpointPath).send({ url }).expect(201);
    const path = `${endpointPath}/${body.id}`;
    await acme.patch(path).send({ enabled: false }).expect(200);
    await writeNews(db, service.companies.acme, [subject, subject]);
    await numberNews(db, 1_000);
    await acme.patch(path).send({ enabled: true }).expect(200);
    await acme.patch(path).send({ enabled: false }).expect(200);
    await db('news').update({ created_at: db.raw("now() - interval '40 days'") });
    await writeNews(db, service.companies.acme, [subject]);
    await numberNews(db, 1_000);
    for (const purge of createNewsPurges(30)) await purge(db, 1_000);
    const { body: problem } = await acme.patch(path).send({ enabled: true }).expect(409);
    expect(problem.code).toBe('endpoint_outdated');
    // The sender notices it too, and never leaves news out without a word.
    await db('news_endpoints').where({ id: body.id }).update({ disabled_reason: null });
    expect(await takeOver(db, body.id, 100)).toMatchObject({ hasGap: true });
  });

  test('409: an endpoint whose waiting deliveries the feed no longer keeps', async ({
    db,
    acme,
    service,
  }) => {
    await db('news_endpoints').delete();
    const { body } = await acme.post(endpointPath).send({ url }).expect(201);
    const path = `${endpointPath}/${body.id}`;
    await writeNews(db, service.companies.acme, [subject]);
    await numberNews(db, 1_000);
    // It was taken over, and not delivered. News that are kept follow at once.
    expect(await takeOver(db, body.id, 100)).toMatchObject({ hasGap: false });
    await acme.patch(path).send({ enabled: false }).expect(200);
    await db('news').update({ created_at: db.raw("now() - interval '40 days'") });
    for (const purge of createNewsPurges(30)) await purge(db, 1_000);
    const { body: problem } = await acme.patch(path).send({ enabled: true }).expect(409);
    expect(problem.code).toBe('endpoint_outdated');
  });
});

test('news are kept for an enabled endpoint that has not got them, however old they are', async ({
  db,
  acme,
  globex,
  service,
}) => {
  await db('news_endpoints').delete();
  const { acme: company } = service.companies;
  const { body } = await acme.post(endpointPath).send({ url }).expect(201);
  await globex.post(endpointPath).send({ url }).expect(201);
  await writeNews(db, company, [subject]);
  await numberNews(db, 1_000);
  await takeOver(db, body.id, 100);
  // One waits as a delivery that is rejected each day, the other in the feed.
  await writeNews(db, company, [subject]);
  await numberNews(db, 1_000);
  await db('news').update({ created_at: db.raw("now() - interval '400 days'") });
  const [last] = await db('news_feeds').where({ company_id: company }).pluck('last_position');
  const kept = async () => {
    for (const purge of createNewsPurges(30)) await purge(db, 1_000);
    return db('news').where({ company_id: company }).orderBy('position').pluck('position');
  };
  expect(await kept()).toEqual([String(last - 1), last]);
  expect(await db('news_deliveries').where({ endpoint_id: body.id, delivered: false })).toHaveLength(1);
  await db('news_deliveries').where({ endpoint_id: body.id }).update({ delivered: true });
  expect(await kept()).toEqual([last]);
  await acme.patch(`${endpointPath}/${body.id}`).send({ enabled: false }).expect(200);
  expect(await kept()).toEqual([]);
});

describe('listDeliveries', () => {
  test('200: pages through them, newest first', async ({ db, acme, service }) => {
    const { body } = await acme.post(endpointPath).send({ url }).expect(201);
    const { id } = body;
    await writeNews(db, service.companies.acme, [subject, subject, subject]);
    await numberNews(db, 1_000);
    await takeOver(db, id, 100);
    const first = await acme.get(`${endpointPath}/${id}/deliveries?limit=2`).expect(200);
    const second = await acme
      .get(`${endpointPath}/${id}/deliveries?cursor=${first.headers['x-next-cursor']}`)
      .expect(200);
    const sequences = [...first.body, ...second.body].map(({ sequence }: { sequence: number }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => b - a));
    expect(sequences).toHaveLength(3);
    expect(second.headers['link']).toBeUndefined();
    await acme.get(`${endpointPath}/${id}/deliveries?cursor=b3duIGludmVudGlvbg`).expect(400);
  });
});

test('the schedule is that of Standard Webhooks: ten tries in three days, then one a day', () => {
  const waits = Array.from({ length: 9 }, (_, index) => waitAfter(index + 1) / 1_000);
  expect(waits).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  expect(waitAfter(30)).toBe(86_400_000);
});

test('`Retry-After` is read as seconds or as a date, a day at most', () => {
  const now = Date.parse('2027-05-04T09:00:00Z');
  expect(retryAfterMs('120', now)).toBe(120_000);
  expect(retryAfterMs('Tue, 04 May 2027 09:01:00 GMT', now)).toBe(60_000);
  for (const text of ['999999999', '9999999999', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])
    expect(retryAfterMs(text, now)).toBe(86_400_000);
  for (const text of ['soon', '-5', '', undefined]) expect(retryAfterMs(text, now)).toBe(0);
});

test('the operator may allow a host, with or without its port', () => {
  expect(isEndpointUrl('http://127.0.0.1:8080/x', ['127.0.0.1:8080'])).toBe(true);
  expect(isEndpointUrl('http://127.0.0.1:8081/x', ['127.0.0.1:8080'])).toBe(false);
  expect(isEndpointUrl('http://receiver.internal/x', ['receiver.internal'])).toBe(true);
});

test('a secret opens for its endpoint only, and by each key of the ring', () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const before = createEndpointSecrets(new Map([['a', one]]));
  const after = createEndpointSecrets(
    new Map([
      ['b', two],
      ['a', one],
    ]),
  );
  const sealed = before.seal('x', 'whsec_1');
  expect(after.open('x', sealed)).toBe('whsec_1');
  expect(() => after.open('y', sealed)).toThrow();
  expect(() => createEndpointSecrets(new Map([['c', two]])).open('x', sealed)).toThrow(/unknown key a/);
});

test('the age of what endpoints have not taken is not that of a dead one, unless all are dead', async ({
  acme,
  db,
  service,
}) => {
  await db('news_endpoints').delete();
  const [dead, well] = [
    await acme.post(endpointPath).send({ url }),
    await acme.post(endpointPath).send({ url }),
  ];
  const metrics = createMetrics((_source, error) => {
    throw error;
  });
  watchNews(metrics, { db });
  const age = async () =>
    Number(/^tallystick_news_undelivered_seconds (\S+)$/m.exec((await metrics.scrape()).text)?.[1]);
  const fail = ({ body }: typeof dead, isFailing: boolean) =>
    db('news_endpoints')
      .where({ id: body.id })
      .update({ failing_since: isFailing ? db.fn.now() : null });

  await writeNews(db, service.companies.acme, [subject]);
  await db('news').update({ created_at: db.raw("now() - interval '2 hours'") });
  await numberNews(db, 1_000);
  await db('news_endpoints').where({ id: well.body.id }).increment('position', 1);
  expect(await age()).toBeGreaterThan(7_000);
  await fail(dead, true);
  expect(await age()).toBe(0);
  await fail(well, true);
  expect(await age()).toBeGreaterThan(7_000);
});
