import type { Database, Tx } from '../../contract/transaction.ts';
import type { NewsType } from '../feed/news.ts';
import type { Endpoint } from './endpoint.ts';

const table = 'news_endpoints';

/** The columns of an {@link Endpoint}. */
export const endpointColumns = `id, company_id AS "companyId", url AS address, types, secrets, previous_until AS "previousUntil",
  position::float8 AS position, disabled_reason AS "disabledReason", failing_since AS "failingSince", created_at AS "createdAt", updated_at AS "updatedAt"`;

async function rowsOf(
  db: Database,
  sql: string,
  values: Readonly<Record<string, unknown>>,
): Promise<Endpoint[]> {
  const { rows } = await db.raw(sql, values as Record<string, string>); // knex binds arrays and null too
  return rows;
}

export const listEndpoints = (db: Database, companyId: string): Promise<Endpoint[]> =>
  rowsOf(
    db,
    `SELECT ${endpointColumns} FROM ${table} WHERE company_id = :companyId ORDER BY created_at, id`,
    { companyId },
  );

const ofCompany = `SELECT ${endpointColumns} FROM ${table} WHERE company_id = :companyId AND id = :id`;

/** @returns undefined when the company has no such endpoint */
export async function findEndpoint(
  db: Database,
  companyId: string,
  id: string,
): Promise<Endpoint | undefined> {
  const [found] = await rowsOf(db, ofCompany, { companyId, id });
  return found;
}

/** Locks an endpoint until the end of the transaction. @returns undefined when the company has no such endpoint */
export async function lockEndpoint(tx: Tx, companyId: string, id: string): Promise<Endpoint | undefined> {
  const [found] = await rowsOf(tx, `${ofCompany} FOR NO KEY UPDATE`, { companyId, id });
  return found;
}

/**
 * Locks the endpoints of a company. Until the end of the transaction, no other process creates an endpoint of the
 * company, or changes the address of one.
 */
export async function listEndpointsAlone(tx: Tx, companyId: string): Promise<Endpoint[]> {
  await tx.raw("SELECT pg_advisory_xact_lock(hashtextextended('news endpoints ' || ?, 0))", [companyId]);
  return listEndpoints(tx, companyId);
}

type NewEndpoint = Pick<Endpoint, 'id' | 'companyId' | 'address' | 'types' | 'secrets'>;

/** Inserts an endpoint that gets all news from now on. */
export async function insertEndpoint(tx: Tx, { types, ...endpoint }: NewEndpoint): Promise<Endpoint> {
  const [made] = await rowsOf(
    tx,
    `INSERT INTO ${table} (id, company_id, url, types, secrets, first_position, position)
     SELECT :id, :companyId, :address, :types::text[], :secrets::text[], last, last
     FROM (SELECT coalesce((SELECT last_position FROM news_feeds WHERE company_id = :companyId), 0) AS last) f
     RETURNING ${endpointColumns}`,
    { ...endpoint, types: types === null ? null : [...types] },
  );
  if (made === undefined) throw new Error('the endpoint was not inserted');
  return made;
}

/** What a company may change of an endpoint. An undefined value stays. */
export type EndpointChanges = {
  /** As it is stored. */
  readonly address?: string | undefined;
  readonly types?: readonly NewsType[] | null | undefined;
  readonly enabled?: boolean | undefined;
};

/** Changes a locked endpoint. One that is enabled again goes on at once with what waits. */
export async function updateEndpoint(
  tx: Tx,
  id: string,
  { address, types, enabled }: EndpointChanges,
): Promise<Endpoint> {
  const [changed] = await rowsOf(
    tx,
    `UPDATE ${table} SET updated_at = clock_timestamp(), url = coalesce(:address::text, url),
       types = CASE WHEN :hasTypes THEN :types::text[] ELSE types END,
       failing_since = CASE WHEN :enabled THEN NULL ELSE failing_since END,
       paused_until = CASE WHEN :enabled THEN NULL ELSE paused_until END,
       disabled_reason = CASE WHEN :enabled IS NULL THEN disabled_reason WHEN :enabled THEN NULL
         ELSE coalesce(disabled_reason, 'requested') END
     WHERE id = :id RETURNING ${endpointColumns}`.replaceAll(':enabled', ':enabled::boolean'),
    {
      id,
      address: address ?? null,
      hasTypes: types !== undefined,
      types: types === undefined || types === null ? null : [...types],
      enabled: enabled ?? null,
    },
  );
  if (changed === undefined) throw new Error('the endpoint is not locked');
  if (enabled === true) await tx.raw(retrySql, [id]);
  return changed;
}

const retrySql =
  'UPDATE news_deliveries SET next_attempt_at = clock_timestamp() WHERE endpoint_id = ? AND NOT delivered AND next_attempt_at > clock_timestamp()';

/** Whether the feed keeps all news that an endpoint has not got. */
export async function isWithinFeed(db: Database, { companyId, position }: Endpoint): Promise<boolean> {
  const { rows }: { rows: [{ oldest: string | null; last: string | null }] } = await db.raw(
    `SELECT (SELECT position FROM news WHERE company_id = :companyId AND position IS NOT NULL ORDER BY position LIMIT 1) AS oldest,
       (SELECT last_position FROM news_feeds WHERE company_id = :companyId) AS last`,
    { companyId },
  );
  const [{ oldest, last }] = rows;
  return position >= Number(last ?? 0) || Number(oldest ?? Number.POSITIVE_INFINITY) <= position + 1;
}

/** Sets the secrets of a locked endpoint, the newest first, and its address. @param previousUntil when the second secret ends */
export async function setSealed(
  tx: Tx,
  id: string,
  { secrets, previousUntil, address }: Pick<Endpoint, 'secrets' | 'previousUntil' | 'address'>,
): Promise<void> {
  await tx.raw(`UPDATE ${table} SET secrets = ?::text[], previous_until = ?, url = ? WHERE id = ?`, [
    [...secrets],
    previousUntil,
    address,
    id,
  ] as never);
}

/** Deletes an endpoint and its deliveries. @returns whether the company had it */
export async function deleteEndpoint(tx: Tx, companyId: string, id: string): Promise<boolean> {
  return (await tx(table).where({ company_id: companyId, id }).delete()) === 1;
}

/** Writes news that only this endpoint is sent. @returns the id of the news */
export async function insertTestNews(tx: Tx, { id, companyId }: Endpoint): Promise<string> {
  const { rows }: { rows: [{ id: string }] } = await tx.raw(
    `INSERT INTO news (company_id, type, subject, data)
     VALUES (:companyId, 'endpoint.test', :id, jsonb_build_object('endpointId', :id::text)) RETURNING id`,
    { id, companyId },
  );
  return rows[0].id;
}

/** Finds an endpoint of any company, for operators. */
export async function findAnyEndpoint(db: Database, id: string): Promise<Endpoint | undefined> {
  const [found] = await rowsOf(db, `SELECT ${endpointColumns} FROM ${table} WHERE id = :id`, { id });
  return found;
}

/** All endpoints that have a secret or an address under another key than the given key, or an address in clear. */
export const listSealedOtherwise = (db: Database, keyId: string): Promise<Endpoint[]> =>
  rowsOf(
    db,
    `SELECT ${endpointColumns} FROM ${table} 
     WHERE EXISTS (SELECT FROM unnest(secrets || split_part(url, ' ', 2)) s WHERE NOT starts_with(s, :prefix))`,
    { prefix: `${keyId}:` },
  );
