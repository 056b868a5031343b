import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import encodeQr from 'qr';
import { describe, expect } from 'vitest';
import { createTickets } from '../../../src/events/checkin/tickets.ts';
import { testWith } from '../../support/fixtures.ts';
import type { Client } from '../../support/service.ts';
import { eventPath, givenAttendees, givenEvent, scansOf, unknownId } from '../requests.ts';

const keyOf = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const rings = {
  old: `old:${keyOf(1)}`,
  both: `old:${keyOf(1)},new:${keyOf(2)}`,
  turned: `new:${keyOf(2)},old:${keyOf(1)}`,
};
const test = testWith({ settings: { SECRET_KEYS: rings.both } });

const jwks = '/events/v1/api/tickets/jwks';
const ticketPath = (id: string, attendeeId: string) =>
  `${eventPath}/${id}/attendees/${encodeURIComponent(attendeeId)}/ticket`;
const take = async (client: Client, id: string, attendeeId: string) =>
  (await client.get(ticketPath(id, attendeeId)).expect(200)).body;

describe('a ticket', () => {
  test('verifies offline with the published keys and any library', async ({ acme, anyone }) => {
    const { id } = await givenEvent(acme, {
      startDate: '2027-05-04T09:00:00Z',
      endDate: '2027-05-04T16:00:00.5Z',
    });
    await givenAttendees(acme, id, 'ann');
    const { ticket, ticketId, expiresAt } = await take(acme, id, 'ann');
    expect(expiresAt).toBe('2027-05-05T16:00:00.000Z');
    const published = await anyone.get(jwks).expect(200);
    expect(published.headers['cache-control']).toBe('public, max-age=300');
    const options = { algorithms: ['EdDSA'], audience: id, currentDate: new Date('2027-05-04T10:00:00Z') };
    const keys = createLocalJWKSet(published.body);
    const { payload } = await jwtVerify(ticket, keys, options);
    expect(payload).toEqual({ aud: id, sub: 'ann', jti: ticketId, exp: Date.parse(expiresAt) / 1_000 });
    await expect(jwtVerify(ticket, keys, { ...options, currentDate: new Date(expiresAt) })).rejects.toThrow(
      'exp',
    );
    await expect(jwtVerify(ticket, keys, { ...options, audience: unknownId })).rejects.toThrow('aud');
    await expect(jwtVerify(`${ticket.slice(0, -4)}AAAA`, keys, options)).rejects.toThrow('signature');
    // Without jose, by Web Crypto alone.
    const [header = '', claims = '', signature = ''] = ticket.split('.');
    const { kid } = decodeProtectedHeader(ticket);
    const { kty, crv, x } = published.body.keys.find((key: { kid: string }) => key.kid === kid);
    const key = await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify']);
    const signed = Buffer.from(`${header}.${claims}`);
    expect(await crypto.subtle.verify('Ed25519', key, Buffer.from(signature, 'base64url'), signed)).toBe(
      true,
    );
  });

  test('is the same each time, and shows no private key', async ({ acme, anyone }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    expect(await take(acme, id, 'ann')).toEqual(await take(acme, id.toUpperCase(), 'ann'));
    const { body } = await anyone.get(jwks).expect(200);
    expect(body.keys).toHaveLength(2);
    for (const key of body.keys)
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'x']);
  });

  test('fits a QR code of version 13, and with the longest user id version 40', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const longest = '\u{1f33e}'.repeat(255);
    await givenAttendees(acme, id, unknownId, longest);
    const versionOf = (text: string) => {
      const { length } = encodeQr(text, 'raw', { ecc: 'medium', encoding: 'byte', border: 1 });
      return (length - 2 - 17) / 4;
    };
    const usual = (await take(acme, id, unknownId)).ticket;
    expect(usual.length).toBeLessThanOrEqual(320);
    expect(versionOf(usual)).toBeLessThanOrEqual(13);
    const { ticket } = await take(acme, id, longest);
    expect(ticket.length).toBeLessThanOrEqual(2_048);
    expect(versionOf(ticket)).toBeLessThanOrEqual(40);
    const scanned = await acme
      .post(`${eventPath}/${id}/checkin`)
      .send({ items: [ticket] })
      .expect(200);
    expect(scanned.body.items).toMatchObject([{ attendeeId: longest, status: 'admitted' }]);
  });

  test.for([
    ['a day after its end', { startDate: '2027-01-01', endDate: '2027-01-02' }, '2027-01-03T00:00:00.000Z'],
    ['a year after its start', { startDate: '2033-01-01' }, '2034-01-01T00:00:00.000Z'],
    [
      'with the last second of a year of four digits',
      { endDate: '9999-12-31T12:00:00Z' },
      '9999-12-31T23:59:59.000Z',
    ],
  ] as const)('expires %s', async ([_, dates, expiresAt], { acme }) => {
    const { id } = await givenEvent(acme, dates);
    await givenAttendees(acme, id, 'ann');
    expect(await take(acme, id, 'ann')).toMatchObject({ expiresAt });
  });

  test('expires a year after the registration for an event without dates', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const [{ createdAt }] = (await acme.get(`${eventPath}/${id}/attendees`).expect(200)).body;
    const { expiresAt } = await take(acme, id, 'ann');
    expect(Date.parse(expiresAt) - Math.floor(Date.parse(createdAt) / 1_000) * 1_000).toBe(365 * 86_400_000);
  });

  test('stays valid while its key is replaced, and is unknown once the key is gone', async ({
    service,
    acme,
  }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann', 'bob');
    const old = (await take(acme, id, 'ann')).ticket;
    const turned = (await service.twin({ SECRET_KEYS: rings.turned })).as(service.keys.acme);
    const renewed = (await take(turned, id, 'bob')).ticket;
    expect(decodeProtectedHeader(renewed).kid).not.toBe(decodeProtectedHeader(old).kid);
    const check = (client: Client, ...items: string[]) =>
      client
        .post(`${eventPath}/${id}/checkin`)
        .send(scansOf(...items))
        .expect(200);
    expect((await check(turned, old)).body.items).toMatchObject([{ status: 'admitted' }]);
    expect((await check(acme, renewed)).body.items).toMatchObject([{ status: 'admitted' }]);
    const only = (await service.twin({ SECRET_KEYS: `new:${keyOf(2)}` })).as(service.keys.acme);
    expect((await check(only, old, renewed)).body.items).toMatchObject([
      { status: 'unknown' },
      { status: 'already_admitted' },
    ]);
  });
});

/** `scan` of the guide's program, which decides without a connection. */
async function offlineScan() {
  const file = new URL('../../../openapi/portal/programs/door.ts', import.meta.url);
  const [shown = ''] = stripTypeScriptTypes(await readFile(file, 'utf8')).split('const { id } = await ask');
  const body = shown.replace(/^import .*$/m, 'const { createLocalJWKSet, jwtVerify } = jose;');
  const scan: (keys: unknown, eventId: string, text: string) => Promise<string | undefined> = new Function(
    'jose',
    `${body}\nreturn scan;`,
  )({ createLocalJWKSet, jwtVerify });
  return scan;
}

describe('a ticket has one spelling', () => {
  test('at the door with a connection, and in the program of the guide', async ({
    acme,
    anyone,
    service,
  }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const { ticket, ticketId } = await take(acme, id, 'ann');
    const { sign } = createTickets(service.parts.config.SECRET_KEYS);
    const own = { eventId: id, attendeeId: 'ann', ticketId, expiresAt: new Date('2999-01-01'), label: null };
    // The last of the 86 characters of a signature has four bits that no byte needs.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(ticket.at(-1));
    const respelt = `${ticket.slice(0, -1)}${alphabet[last + 1]}`;
    const bytesOf = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url');
    expect(bytesOf(respelt)).toEqual(bytesOf(ticket));
    const [header = '', claims = '', signature = ''] = ticket.split('.');
    const texts = [
      respelt,
      `${ticket}=`,
      `${header}.${claims}=.${signature}`,
      ticket.replaceAll('.', '.\n'),
      await sign({ ...own, eventId: unknownId }),
      await sign({ ...own, expiresAt: new Date(Date.now() - 1_000) }),
      'ann',
    ];
    const scan = await offlineScan();
    const keys = createLocalJWKSet((await anyone.get(jwks).expect(200)).body);
    const decided = async (text: string) => {
      const answer = await acme
        .post(`${eventPath}/${id}/checkin`)
        .send({ scans: [{ ticket: text }] })
        .expect(200);
      return [answer.body.items[0].attendeeId ?? undefined, await scan(keys, id, text)];
    };
    for (const text of texts) expect([text, ...(await decided(text))]).toEqual([text, undefined, undefined]);
    expect(await decided(` ${ticket}\r\n`)).toEqual(['ann', 'ann']);
  });
});

describe('503: without keys', () => {
  test('no ticket is issued, none is known, and there is no set of keys', async ({ service, acme }) => {
    const { id } = await givenEvent(acme);
    await givenAttendees(acme, id, 'ann');
    const { ticket } = await take(acme, id, 'ann');
    const twin = await service.twin({ AREAS: 'events', SECRET_KEYS: '' });
    const client = twin.as(service.keys.acme);
    expect((await client.get(ticketPath(id, 'ann')).expect(503)).body.code).toBe('service_unavailable');
    expect((await twin.as().get(jwks).expect(503)).body.code).toBe('service_unavailable');
    const { body } = await client.post(`${eventPath}/${id}/checkin`).send(scansOf(ticket, 'ann')).expect(200);
    expect(body.items).toMatchObject([{ status: 'unknown' }, { status: 'admitted' }]);
  });
});
