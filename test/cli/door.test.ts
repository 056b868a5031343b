import encodeQr from 'qr';
import { describe, expect } from 'vitest';
import { namedOnly } from '../../src/events/event-fields.ts';
import { insertEvent } from '../../src/events/event-store.ts';
import { hashKey } from '../../src/keys/key-format.ts';
import { commandLine } from './command-line.ts';
import { test } from './fixtures.ts';

const endDate = new Date('2099-05-04T12:00:00Z');

const makeEvent = test.extend('event', async ({ db, run }) => {
  await run('company', 'create', 'acme');
  const { id: companyId } = await db('companies').where({ name: 'acme' }).first('id');
  const event = await insertEvent(db, companyId, { ...namedOnly('Spring fair'), endDate });
  return { id: event.id, companyId };
});

const partsOf = (url: string) => Object.fromEntries(new URLSearchParams(new URL(url).hash.slice(1)));

describe('door link', () => {
  makeEvent(
    'prints a link whose key checks guests in, and does nothing else',
    async ({ event, db, json }) => {
      const { status, value } = await json('door', 'link', '--event', event.id, '--gate', 'North & South');
      expect(status).toBe(0);
      const { k: key = '', e, gate } = partsOf(value.url);
      expect([new URL(value.url).pathname, e, gate]).toEqual(['/door', event.id, 'North & South']);
      const [record] = await db('api_keys').where({ hash: hashKey(key) });
      expect(record).toMatchObject({
        id: value.keyId,
        company_id: event.companyId,
        scopes: ['events:checkin'],
        event_id: event.id,
        label: 'door of Spring fair',
        expires_at: new Date('2099-05-11T12:00:00Z'),
      });
      expect(await db('audit_log').where({ subject: value.keyId }).pluck('action')).toEqual(['key.create']);
    },
  );

  makeEvent('prints a code of the link for people', async ({ event, run }) => {
    const { out, err } = await run('door', 'link', '--event', event.id, '--expires', '2099-01-01');
    const url = /^url +(\S+)$/m.exec(out)?.[1] ?? '';
    expect(err).toContain(encodeQr(url, 'ascii', { ecc: 'low' }));
    expect(err).toContain(`tallystick key revoke ${/^keyId +(\S+)$/m.exec(out)?.[1]}`);
    expect(out).toMatch(/^expiresAt +2099-01-01T00:00:00.000Z$/m);
  });

  makeEvent('rejects events that are none, and ends that are past', async ({ event, json }) => {
    for (const id of ['spring', '11111111-2222-4333-8444-555555555555']) {
      const { status, error } = await json('door', 'link', '--event', id);
      expect([status, error?.message]).toEqual([2, expect.stringContaining(`There is no event ${id}.`)]);
    }
    const past = await json('door', 'link', '--event', event.id, '--expires', '2020-01-01');
    expect([past.status, past.error?.message]).toEqual([2, 'The link would end in the past: set --expires.']);
  });

  makeEvent('rejects a gate without a visible character', async ({ event, db, json }) => {
    const { status, error } = await json('door', 'link', '--event', event.id, '--gate', '\u200b');
    expect([status, error?.message]).toEqual([2, expect.stringContaining('must have a visible character')]);
    expect(await db('api_keys').where({ event_id: event.id })).toEqual([]);
  });

  makeEvent('makes no key that the service would not accept', async ({ event, settings }) => {
    const remote = { KEY_VERIFIER: 'remote', AUTH_URL: 'https://auth.example/verify', AUTH_CREDENTIAL: 'x' };
    const { json } = commandLine({ ...settings, ...remote });
    const { status, error } = await json('door', 'link', '--event', event.id);
    expect([status, error?.message]).toEqual([2, expect.stringContaining('KEY_VERIFIER is remote')]);
  });
});
