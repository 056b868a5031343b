import { createCipheriv, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Caller } from './hooks.ts';
import { notFound } from './not-found.ts';
import type { Visit } from './reads.ts';
import { type Attendee, type EventRow, eventColumns, eventOf, nftOf } from './rows.ts';

type EventBody = Readonly<Record<string, unknown>>;
type Registration = { readonly created_at: Date };
type Series = { readonly number: string; readonly first: string; readonly created_at: Date };

const columnOf = {
  name: 'name',
  location: 'location',
  description: 'description',
  program: 'program',
  startDate: 'start_date',
  endDate: 'end_date',
  maxAttendees: 'max_attendees',
  price: 'price',
  currency: 'currency',
  discountPrice: 'discount_price',
  discountPercentage: 'discount_percentage',
  coverImage: 'cover_image',
  chainId: 'chain_id',
};
const fields = Object.keys(columnOf);
const places = fields.map((_, index) => `$${index + 5}`).join(', ');

const createSql = `
  WITH made AS (
    INSERT INTO events (company_id, ${Object.values(columnOf).join(', ')}) VALUES ($1, ${places})
    RETURNING ${eventColumns}
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

// The statement does not send back values that are known before, or that follow from the first serial.
const issueSql = `
  WITH rwa AS (
    UPDATE rwas SET last_serial = last_serial + $6, total_nfts = total_nfts + $6
    WHERE company_id = $1 AND id = $5 RETURNING id, number, last_serial - $6 AS last
  ), made AS (
    INSERT INTO nfts (id, company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id)
    SELECT w.id, $1, rwa.id, rwa.number, rwa.last + w.place,
      rwa.number::numeric * 18446744073709551616 + rwa.last + w.place, w.cipher, $9
    FROM rwa, unnest($7::uuid[], $8::bytea[]) WITH ORDINALITY AS w (id, cipher, place)
  ), told AS (
    INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, subject, request_id, details)
    SELECT 'key', $2, $3, $1::uuid::text, 'nft.create', rwa.id::text, $4, jsonb_build_object('count', $6) FROM rwa
  ) SELECT number, last + 1 AS first, statement_timestamp() AS created_at FROM rwa`;

/** @param secretKey what claim secrets are sealed with, and its id */
export function createWrites(pool: pg.Pool, secretKey: { readonly id: string; readonly key: KeyObject }) {
  const seal = (id: string, secret: string): Buffer => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', secretKey.key, nonce);
    cipher.setAAD(Buffer.from(`tallystick claim secret ${id}`));
    return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  };
  return {
    async createEvent({ companyId, keyId }: Caller, body: EventBody, visit: Visit) {
      const values = [companyId, keyId, visit.ip, visit.id, ...fields.map((field) => body[field] ?? null)];
      const { rows } = await pool.query<EventRow>({ name: 'create event', text: createSql, values });
      return eventOf(rows[0] ?? notFound());
    },
    async addAttendee(
      { companyId, keyId }: Caller,
      eventId: string,
      attendeeId: string,
      visit: Visit,
    ): Promise<Attendee> {
      const values = [companyId, keyId, visit.ip, visit.id, eventId, attendeeId];
      const { rows } = await pool.query<Registration>({ name: 'add attendee', text: addSql, values });
      const { created_at } = rows[0] ?? notFound();
      return {
        attendeeId,
        eventId,
        label: null,
        createdAt: created_at.toISOString(),
        checkedInAt: null,
        inside: null,
        wallet: null,
        appliedPrice: null,
        blocks: [],
        tokens: [],
      };
    },
    async issueNfts({ companyId, keyId }: Caller, rwaId: string, count: number, visit: Visit) {
      const nfts = Array.from({ length: count }, () => newSecret(seal));
      const [ids, ciphers] = [nfts.map(({ id }) => id), nfts.map(({ cipher }) => cipher)];
      const by = [companyId, keyId, visit.ip, visit.id];
      const values = [...by, rwaId, count, ids, ciphers, secretKey.id];
      const { rows } = await pool.query<Series>({ name: 'issue NFTs', text: issueSql, values });
      const series = rows[0] ?? notFound();
      return { created: count, nfts: nfts.map((nft, index) => issued(rwaId, series, nft, index)) };
    },
  };
}

function newSecret(seal: (id: string, secret: string) => Buffer) {
  const id = randomUUID();
  const secret = randomBytes(secretBytes).toString('base64url');
  return { id, secret, cipher: seal(id, secret) };
}

function issued(
  rwaId: string,
  { number, first, created_at }: Series,
  { id, secret }: ReturnType<typeof newSecret>,
  index: number,
) {
  const serial = BigInt(first) + BigInt(index);
  const row = {
    id,
    rwa_id: rwaId,
    serial: serial.toString(),
    token_id: ((BigInt(number) << 64n) + serial).toString(),
    mint_state: 'unclaimed' as const,
    mint_error: null,
    recipient: null,
    minted_at: null,
    minted_tx: null,
    minted_block: null,
    owner: null,
    owner_block: null,
    owner_at: null,
    owner_tx: null,
    data: null,
    attributes: null,
    image_url: null,
    created_at,
    updated_at: created_at,
  };
  return nftOf(row, secret);
}
