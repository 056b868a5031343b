import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import { resealEndpoints } from '../../src/news/endpoints/endpoint-keys.ts';
import { createEndpointSecrets } from '../../src/news/endpoints/endpoint-secret.ts';
import { numberNews } from '../../src/news/feed/sequencer-store.ts';
import { takeOver } from '../../src/news/sending/sender-store.ts';
import { test } from './fixtures.ts';

const url = 'https://partner.example/news';
const unknown = '0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55';

test.beforeAll(async ({ run }) => {
  await run('company', 'create', 'acme');
});

const actionsOf = (db: Knex, subject: string) =>
  db('audit_log').where({ subject }).orderBy('id').pluck('action');

describe('news', () => {
  test('creates, lists, changes, rotates and deletes endpoints, each with its entry', async ({
    db,
    run,
    json,
  }) => {
    const { value: made } = await json(
      'news',
      'create',
      url,
      '--company',
      'acme',
      '--types',
      'nft.minted,nft.reverted',
    );
    // What is behind the host concerns the company alone.
    expect(made).toMatchObject({
      url: 'https://partner.example/…',
      types: ['nft.minted', 'nft.reverted'],
      enabled: true,
    });
    expect(made.secret).toMatch(/^whsec_/);
    const { out } = await run('news', 'list', '--company', 'acme');
    expect(out).toContain(made.id);
    expect(out).not.toMatch(/whsec_|example\/news/);
    const created = await db('audit_log').where({ subject: made.id }).first('details');
    expect(created.details).toEqual({ url: 'https://partner.example/…' });
    const { value: off } = await json('news', 'update', made.id, '--disable', '--all-types');
    expect(off).toMatchObject({ enabled: false, disabledReason: 'requested', types: null });
    expect((await json('news', 'update', made.id, '--enable')).value).toMatchObject({ enabled: true });
    const { value: rotated } = await json('news', 'rotate-secret', made.id, '--overlap-hours', '1');
    expect(rotated.secret).not.toBe(made.secret);

    const { value: sent } = await json('news', 'test', made.id);
    await numberNews(db, 10);
    await takeOver(db, made.id, 10);
    const { value: deliveries } = await json('news', 'deliveries', made.id);
    expect(deliveries).toMatchObject([{ newsId: sent.id, type: 'endpoint.test', state: 'pending' }]);
    const { value: again } = await json('news', 'resend', made.id, String(deliveries[0].sequence));
    expect(again).toMatchObject({ newsId: sent.id, attempts: 0 });
    expect((await run('news', 'resend', made.id, '999')).status).toBe(2);

    expect((await run('news', 'delete', made.id)).status).toBe(0);
    expect(await actionsOf(db, made.id)).toEqual([
      ...['endpoint.create', 'endpoint.update', 'endpoint.update', 'endpoint.rotate', 'endpoint.test'],
      ...['endpoint.resend', 'endpoint.delete'],
    ]);
  });

  test('names what is wrong', async ({ run }) => {
    const private_ = await run('news', 'create', 'https://127.0.0.1/', '--company', 'acme');
    expect([private_.status, private_.err]).toEqual([
      2,
      'url must be a public https address without user and password\n',
    ]);
    expect((await run('news', 'create', url, '--company', 'acme', '--types', 'nft.lost')).err).toContain(
      'nft.minted',
    );
    for (const args of [
      ['delete', unknown],
      ['test', unknown],
      ['deliveries', 'x'],
    ]) {
      expect((await run('news', ...args)).err).toContain('There is no endpoint');
    }
  });
});

test('secrets and addresses of endpoints are sealed again by a new key, also those that 0.2.0 stored in clear', async ({
  db,
  json,
}) => {
  const { value: made } = await json('news', 'create', url, '--company', 'acme');
  await db('news_endpoints').where({ id: made.id }).update({ url });
  const old = Buffer.alloc(32, 1);
  const both = createEndpointSecrets(
    new Map([
      ['fresh', Buffer.alloc(32, 9)],
      ['first', old],
    ]),
  );
  const { resealed, failed } = await resealEndpoints(db, both);
  expect([resealed, failed]).toEqual([1, []]);
  const { secrets, url: address } = await db('news_endpoints').where({ id: made.id }).first();
  const fresh = createEndpointSecrets(new Map([['fresh', Buffer.alloc(32, 9)]]));
  expect(fresh.open(made.id, secrets[0])).toBe(made.secret);
  expect(address).toMatch(/^https:\/\/partner\.example fresh:/);
  expect(fresh.openUrl({ id: made.id, address })).toBe(url);
  expect((await resealEndpoints(db, both)).resealed).toBe(0);
});
