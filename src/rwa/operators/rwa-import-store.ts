import { randomUUID } from 'node:crypto';
import type { Tx } from '../../contract/transaction.ts';
import type { RwaInput } from '../assets/rwa-input.ts';

export type ImportOptions = {
  readonly companyId: string;
  readonly onProgress: (done: number, total: number) => void;
  /** Aborts between two statements. */
  readonly signal: AbortSignal;
};

// Rows per statement, which bounds the size of its text: 500 of the largest rows take some 20 MB.
const batch = 500;

// The rows of a transaction share one now(): microseconds keep a listing by creation in the file's order, and milliseconds a
// listing by number.
const sql = `
  INSERT INTO rwas (id, number, company_id, name, description, type, image_url, chain_id, contract_address,
    is_buyable, is_claimable, price, currency, data, claim_page, claim_base_url, created_at, updated_at)
  SELECT id, new_rwa_number(now() + place * interval '1 millisecond'), :companyId, name, description, type, "imageUrl", "chainId", "contractAddress",
    "isBuyable", "isClaimable", price, currency, data, "claimPage", "claimBaseUrl", at, at
  FROM json_to_recordset(:rows) AS row (place int, id uuid, name text, description text, type text,
    "imageUrl" text, "chainId" bigint, "contractAddress" text, "isBuyable" boolean, "isClaimable" boolean,
    price numeric, currency text, data jsonb, "claimPage" boolean, "claimBaseUrl" text),
    LATERAL (SELECT now() + place * interval '1 microsecond' AS at) AS moment
  ORDER BY place`;

/**
 * Inserts RWAs of one company. Their networks must be registered.
 * @returns their ids, in the order of the inputs
 * @throws the reason of the signal when it aborts
 */
export async function insertRwas(
  tx: Tx,
  inputs: readonly RwaInput[],
  { companyId, onProgress, signal }: ImportOptions,
): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < inputs.length) {
    signal.throwIfAborted();
    const start = ids.length;
    const rows = inputs
      .slice(start, start + batch)
      .map((input, index) => ({ ...input, id: randomUUID(), place: start + index }));
    await tx.raw(sql, { companyId, rows: JSON.stringify(rows) });
    ids.push(...rows.map(({ id }) => id));
    onProgress(ids.length, inputs.length);
  }
  return ids;
}
