import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';

async function ask<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(`${process.env.TALLYSTICK}/events/v1/api${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': process.env.TALLYSTICK_KEY ?? '', 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json() as T;
}

type Revoked = { tickets: { ticketId: string }[]; cursor: string; hasMore: boolean };

/** While there is a connection: the keys, and what was revoked since the last time. */
const revoked = new Set<string>();
let after = '';
async function load(eventId: string) {
  const keys = await ask<JSONWebKeySet>('/tickets/jwks');
  for (let hasMore = true; hasMore; ) {
    const page = await ask<Revoked>(`/event/${eventId}/tickets/revoked?after=${after}`);
    for (const { ticketId } of page.tickets) revoked.add(ticketId);
    ({ cursor: after, hasMore } = page);
  }
  return createLocalJWKSet(keys);
}

/** Without a connection: whom a scanned ticket admits; undefined for nobody. */
const scanned = new Map<string, { ticket: string; scanId: string; at: string }>();
async function scan(keys: ReturnType<typeof createLocalJWKSet>, eventId: string, text: string) {
  const ticket = text.trim(); // a hand scanner sends Enter, too
  const spelt = ticket.split('.').map((part) => Buffer.from(part, 'base64url').toString('base64url'));
  if (spelt.join('.') !== ticket) return undefined; // a ticket has one spelling
  // The signature, the event, and the expiry.
  const options = { algorithms: ['EdDSA'], audience: eventId, requiredClaims: ['exp', 'sub', 'jti'] };
  const { payload } = await jwtVerify(ticket, keys, options).catch(() => ({ payload: undefined }));
  const ticketId = payload?.jti;
  if (ticketId === undefined || revoked.has(ticketId) || scanned.has(ticketId)) return undefined;
  scanned.set(ticketId, { ticket, scanId: crypto.randomUUID(), at: new Date().toISOString() });
  return payload?.sub;
}

const { id } = await ask<{ id: string }>('/event', { name: 'Spring fair' });
await ask(`/event/${id}/attendees`, { attendeeId: 'user-7421' });
const { ticket } = await ask<{ ticket: string }>(`/event/${id}/attendees/user-7421/ticket`);

const keys = await load(id);
console.log('offline:', await scan(keys, id, `${ticket}\n`), await scan(keys, id, ticket));
const result = await ask<{ items: { status: string }[] }>(`/event/${id}/checkin`, {
  sentAt: new Date().toISOString(),
  scans: [...scanned.values()],
});
console.log('online:', ...result.items.map(({ status }) => status));
