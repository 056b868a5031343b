import { createCipheriv, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { Caller } from './keys.ts';
import type { Visit } from './reads.ts';
import { type EventRow, eventOf, type NftRow, nftOf } from './rows.ts';
import type { Ask } from './statements.ts';

type EventBody = Readonly<Record<string, unknown>>;
type Registration = { readonly created_at: Date };

const fields = [
  ...[
    'name',
    'location',
    'description',
    'program',
    'startDate',
    'endDate',
    'maxAttendees',
    'price',
    'currency',
  ],
  ...['discountPrice', 'discountPercentage', 'coverImage', 'chainId'],
];
const columns = [
  ...[
    'name',
    'location',
    'description',
    'program',
    'start_date',
    'end_date',
    'max_attendees',
    'price',
    'currency',
  ],
  ...['discount_price', 'discount_percentage', 'cover_image', 'chain_id'],
];

const createSql = `
  WITH made AS (
    INSERT INTO events (company_id, ${columns.join(', ')})
    VALUES ($1, ${columns.map((_, index) => `$${index + 5}`).join(', ')}) RETURNING *
  ), told AS (
    INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, subject, request_id)
    SELECT 'key', $2, $3, $1::uuid::text, 'event.create', made.id::text, $4 FROM made
  ) SELECT * FROM made`;

// One statement is a transaction: the event is locked, counted and filled by it.
const addSql = `
  WITH place AS (
    UPDATE events SET total_attendees = total_attendees + 1
    WHERE company_id = $1 AND id = $5 AND (max_attendees IS NULL OR total_attendees < max_attendees) RETURNING id
  ), made AS (
    INSERT INTO attendees (company_id, event_id, attendee_id, created_at)
    SELECT $1, place.id, $6, clock_timestamp() FROM place RETURNING created_at
  ), told AS (
    INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, subject, request_id, details)
    SELECT 'key', $2, $3, $1::uuid::text, 'attendee.add', $5::uuid::text, $4, jsonb_build_object('attendeeId', $6::text)
    FROM made
  ) SELECT created_at FROM made`;

const secretBytes = 24;
const nonceBytes = 12;

const issueSql = `
  WITH rwa AS (
    UPDATE rwas SET last_serial = last_serial + $6, total_nfts = total_nfts + $6
    WHERE company_id = $1 AND id = $5 RETURNING *
  ), made AS (
    INSERT INTO nfts (id, company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state)
    SELECT w.id, $1, rwa.id, rwa.number, rwa.last_serial - $6 + w.place,
      rwa.number::numeric * 18446744073709551616 + rwa.last_serial - $6 + w.place, w.cipher, $9, 'unclaimed'
    FROM rwa, unnest($7::uuid[], $8::bytea[]) WITH ORDINALITY AS w (id, cipher, place) RETURNING *
  ), told AS (
    INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, subject, request_id, details)
    SELECT 'key', $2, $3, $1::uuid::text, 'nft.create', rwa.id::text, $4, jsonb_build_object('count', $6) FROM rwa
  ) SELECT * FROM made ORDER BY serial`;

export type Writes = ReturnType<typeof createWrites>;

/** @param secretKey what claim secrets are sealed with, and its id */
export function createWrites(ask: Ask, secretKey: { readonly id: string; readonly key: Buffer }) {
  const key = createSecretKey(secretKey.key);
  const seal = (id: string, secret: string): Buffer => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    cipher.setAAD(Buffer.from(`tallystick claim secret ${id}`));
    return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  };
  const by = ({ companyId, keyId }: Caller, from: Visit) => [companyId, keyId, from.address, from.requestId];
  return {
    async createEvent(caller: Caller, body: EventBody, from: Visit) {
      const values = [...by(caller, from), ...fields.map((field) => body[field] ?? null)];
      const [row] = await ask<EventRow>('create event', createSql, values);
      return row && eventOf(row);
    },
    async addAttendee(caller: Caller, eventId: string, attendeeId: string, from: Visit) {
      const values = [...by(caller, from), eventId, attendeeId];
      const [row] = await ask<Registration>('add attendee', addSql, values);
      return row && { attendeeId, eventId, createdAt: row.created_at.toISOString() };
    },
    async issueNfts(caller: Caller, rwaId: string, count: number, from: Visit) {
      const secrets = new Map(
        Array.from({ length: count }, (): [string, string] => [
          randomUUID(),
          randomBytes(secretBytes).toString('base64url'),
        ]),
      );
      const ciphers = [...secrets].map(([id, secret]) => seal(id, secret));
      const values = [...by(caller, from), rwaId, count, [...secrets.keys()], ciphers, secretKey.id];
      const rows = await ask<NftRow>('issue NFTs', issueSql, values);
      if (rows.length === 0) return undefined;
      return { created: count, nfts: rows.map((row) => nftOf(row, secrets.get(row.id) ?? '')) };
    },
  };
}
