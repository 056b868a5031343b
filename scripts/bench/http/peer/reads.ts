import { createDecipheriv, type KeyObject } from 'node:crypto';
import type pg from 'pg';
import type { Caller } from './hooks.ts';
import { notFound } from './not-found.ts';
import {
  type EventRow,
  eventColumns,
  eventOf,
  type NftRow,
  nftColumns,
  nftOf,
  type RwaDetailRow,
  type RwaRow,
  rwaColumns,
  rwaDetailColumns,
  rwaDetailOf,
  rwaOf,
} from './rows.ts';

export type Page = { readonly limit: number; readonly offset: number };
export type Found<T> = { readonly items: readonly T[]; readonly total: string };

/** Where a request came from. */
export type Visit = { readonly ip: string; readonly id: string };

const nonceBytes = 12;
const tagBytes = 16;

const eventSql = `SELECT ${eventColumns} FROM events WHERE company_id = $1 AND id = $2`;
const eventsSql = `SELECT ${eventColumns} FROM events WHERE company_id = $1
  ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`;
const rwaSql = `SELECT ${rwaDetailColumns} FROM rwas r WHERE company_id = $1 AND id = $2`;
const rwasSql = `SELECT ${rwaColumns} FROM rwas r WHERE company_id = $1 AND archived_at IS NULL
  ORDER BY created_at, id LIMIT $2 OFFSET $3`;
const nftsSql = `SELECT ${nftColumns}, ${rwaColumns} FROM nfts n JOIN rwas r ON r.id = n.rwa_id
  WHERE n.company_id = $1 ORDER BY n.rwa_number, n.serial LIMIT $2 OFFSET $3`;
// The reader of a secret is recorded before the secret is shown.
const nftSql = `
  WITH seen AS (
    SELECT ${nftColumns}, ${rwaDetailColumns} FROM nfts n JOIN rwas r ON r.id = n.rwa_id
    WHERE n.company_id = $1 AND n.id = $2
  ), told AS (
    INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, subject, request_id)
    SELECT 'key', $3, $4, $1::uuid::text, 'nft.secrets_read', seen.id::text, $5 FROM seen
  ) SELECT * FROM seen`;
const nftsSeenSql = `INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, request_id, details)
  VALUES ('key', $1, $2, $3, 'nft.secrets_read', $4, $5)`;

/** @param key what claim secrets are sealed with */
export function createReads(pool: pg.Pool, key: KeyObject) {
  const openSecret = (id: string, sealed: Buffer): string => {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes));
    decipher.setAAD(Buffer.from(`tallystick claim secret ${id}`));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, 'utf8');
    return text + decipher.final('utf8');
  };
  const pageOf = async <Row extends pg.QueryResultRow>(
    table: 'events' | 'rwas' | 'nfts',
    text: string,
    { companyId }: Caller,
    { limit, offset }: Page,
  ): Promise<Found<Row>> => {
    const listed = table === 'rwas' ? ' AND archived_at IS NULL' : '';
    const count = `SELECT count(*) FROM ${table} WHERE company_id = $1${listed}`;
    const [{ rows }, counted] = await Promise.all([
      pool.query<Row>({ name: table, text, values: [companyId, limit, offset] }),
      pool.query<{ count: string }>({ name: `count ${table}`, text: count, values: [companyId] }),
    ]);
    return { items: rows, total: counted.rows[0]?.count ?? '0' };
  };
  return {
    async event({ companyId }: Caller, id: string) {
      const { rows } = await pool.query<EventRow>({ name: 'event', text: eventSql, values: [companyId, id] });
      return eventOf(rows[0] ?? notFound());
    },
    async events(caller: Caller, page: Page) {
      const { items, total } = await pageOf<EventRow>('events', eventsSql, caller, page);
      return { items: items.map(eventOf), total };
    },
    async rwa({ companyId }: Caller, id: string) {
      const { rows } = await pool.query<RwaDetailRow>({ name: 'rwa', text: rwaSql, values: [companyId, id] });
      return rwaDetailOf(rows[0] ?? notFound());
    },
    async rwas(caller: Caller, page: Page) {
      const { items, total } = await pageOf<RwaRow>('rwas', rwasSql, caller, page);
      return { items: items.map(rwaOf), total };
    },
    async nft({ companyId, keyId }: Caller, id: string, visit: Visit) {
      const values = [companyId, id, keyId, visit.ip, visit.id];
      const { rows } = await pool.query<NftRow & RwaDetailRow>({ name: 'nft', text: nftSql, values });
      const row = rows[0] ?? notFound();
      return { ...nftOf(row, openSecret(row.id, row.secret_cipher)), rwa: rwaDetailOf(row) };
    },
    async nfts(caller: Caller, page: Page, visit: Visit) {
      const { items, total } = await pageOf<NftRow & RwaRow>('nfts', nftsSql, caller, page);
      const seen = JSON.stringify({ count: items.length, first: items[0]?.id, last: items.at(-1)?.id });
      const values = [caller.keyId, visit.ip, caller.companyId, visit.id, seen];
      await pool.query({ name: 'nfts seen', text: nftsSeenSql, values });
      const shown = items.map((row) => ({
        ...nftOf(row, openSecret(row.id, row.secret_cipher)),
        rwa: rwaOf(row),
      }));
      return { items: shown, total };
    },
  };
}
