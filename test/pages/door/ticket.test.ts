import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createTickets } from '../../../src/events/checkin/tickets.ts';
import {
  checkSignature,
  eventId,
  findTicket,
  judgeTicket,
  type ReadTicket,
  readTicket,
  ticketOf,
  tickets,
} from './door-modules.ts';

const keys = tickets.publicKeys;
const now = Date.parse('2027-05-04T09:00:00Z');
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** What a phone without a connection says of a text. */
async function verdictOf(scanned: string, { isRevoked = false, at = now, known = keys } = {}) {
  const text = findTicket(scanned);
  const ticket = text === undefined ? undefined : readTicket(text);
  const signature = ticket === undefined ? '' : await checkSignature(ticket, known);
  return judgeTicket(ticket, { eventId, signature, isRevoked, now: at });
}

describe('a code at the door', () => {
  test('that the service signed for the event is valid, alone and in the link of its page', async () => {
    const ticket = await ticketOf();
    const link = `https://tickets.example/ticket#${ticket}&name=Spring%20fair&place=Hall`;
    for (const scanned of [ticket, ` ${ticket}\r\n`, link]) {
      expect(findTicket(scanned)).toBe(ticket);
      expect(await verdictOf(scanned)).toBe('valid');
    }
    expect(readTicket(ticket)).toMatchObject({ eventId, attendeeId: 'user-7421', ticketId: '17' });
  });

  test.each([
    '',
    'user-7421',
    '<img src=x onerror=alert(1)>',
    'https://evil.example/',
    'javascript:alert(1)//',
    'a'.repeat(10_000),
    `${'a'.repeat(9_000)}.b.${'c'.repeat(86)}`,
    `a.b.${'c'.repeat(86)}`,
    `${encode([])}.${encode({})}.${'A'.repeat(86)}`,
    `${encode('x')}.${encode(7)}.${'A'.repeat(86)}`,
    `${encode({ alg: 'EdDSA', kid: 'k' })}.${encode(null)}.${'A'.repeat(86)}`,
    `${Buffer.from([0xff, 0xfe]).toString('base64url')}.${encode({})}.${'A'.repeat(86)}`,
  ])('that is no ticket is none: %.40s', async (scanned) => {
    expect(await verdictOf(scanned)).toBe('notTicket');
  });

  test('with claims of other types is no ticket, so that nothing of it is shown', async () => {
    const [header = '', claims = ''] = (await ticketOf()).split('.');
    const good = JSON.parse(Buffer.from(claims, 'base64url').toString());
    for (const wrong of [
      { sub: { a: 1 } },
      { aud: [eventId] },
      { exp: '2027' },
      { exp: 1e300 },
      { jti: '' },
    ]) {
      const forged = `${header}.${encode({ ...good, ...wrong })}.${'A'.repeat(86)}`;
      expect(await verdictOf(forged)).toBe('notTicket');
    }
  });

  test.each(['none', 'HS256', 'RS256'])('with the algorithm %s is no ticket', async (alg) => {
    const [, claims = '', signature = ''] = (await ticketOf()).split('.');
    const { kid } = keys[0] ?? {};
    expect(await verdictOf(`${encode({ alg, kid })}.${claims}.${signature}`)).toBe('notTicket');
  });

  test('has one spelling, as for the service', async () => {
    const ticket = await ticketOf();
    // The last character of 86 has four bits that no byte uses.
    const others = ['A', 'Q', 'g', 'w'].flatMap((last) =>
      [1, 2, 3].map((step) => ticket.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + step)),
    );
    for (const other of others) {
      expect([await tickets.read(other, eventId), await verdictOf(other)]).toEqual([undefined, 'notTicket']);
    }
  });

  test('that was changed is forged', async () => {
    const [header, claims = '', signature] = (await ticketOf()).split('.');
    const changed = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'user-1' };
    expect(await verdictOf(`${header}.${encode(changed)}.${signature}`)).toBe('forged');
  });

  test('of another signer, event or time admits nobody, and neither does a revoked one', async () => {
    const stranger = createTickets(new Map([['other', randomBytes(32)]]));
    expect(await verdictOf(await ticketOf({}, stranger))).toBe('unknownSigner');
    const other = '11111111-2222-4333-8444-555555555555';
    expect(await verdictOf(await ticketOf({ eventId: other }))).toBe('otherEvent');
    const ticket = await ticketOf();
    const end = Date.parse('2027-09-21T00:00:00Z');
    expect(await verdictOf(ticket, { at: end - 1 })).toBe('valid');
    expect(await verdictOf(ticket, { at: end })).toBe('expired');
    expect(await verdictOf(ticket, { isRevoked: true })).toBe('revoked');
  });

  test('is not valid by a key that says it is the key of another', async () => {
    const stranger = createTickets(new Map([['other', randomBytes(32)]]));
    const forged = await ticketOf({}, stranger);
    const [, ...rest] = forged.split('.');
    const claimed = `${encode({ alg: 'EdDSA', kid: keys[0]?.kid })}.${rest.join('.')}`;
    expect(await verdictOf(claimed)).toBe('forged');
  });

  test('is for the service alone where the browser verifies nothing', async () => {
    const ticket = readTicket(await ticketOf()) as ReadTicket;
    const old = { importKey: () => Promise.reject(new Error('Ed25519 is not known')) };
    const signature = await checkSignature(ticket, keys, old);
    expect(signature).toBe('unable');
    const known = { eventId, signature, isRevoked: false, now };
    expect(judgeTicket(ticket, known)).toBe('unverified');
    expect(judgeTicket(ticket, { ...known, isRevoked: true })).toBe('revoked');
  });
});
