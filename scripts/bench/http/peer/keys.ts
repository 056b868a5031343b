import { createHash } from 'node:crypto';
import type pg from 'pg';

export type Caller = { readonly keyId: string; readonly companyId: string };

export type KeyCheck = {
  /** @returns undefined for a key that was not accepted in the last seconds */
  known(key: string): Caller | undefined;
  /** @returns undefined for a key that is not usable */
  lookUp(key: string): Promise<Caller | undefined>;
};

type Row = { readonly id: string; readonly company_id: string | null };

const cacheMs = 9_000;
const text = `SELECT id, company_id FROM api_keys
  WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`;

/** Checks keys, which are remembered for 9 s by their text, so that a known one is not hashed again. */
export function createKeyCheck(pool: pg.Pool): KeyCheck {
  const accepted = new Map<string, { readonly caller: Caller; readonly until: number }>();
  return {
    known(key) {
      const found = accepted.get(key);
      return found !== undefined && found.until > performance.now() ? found.caller : undefined;
    },
    async lookUp(key) {
      const until = performance.now() + cacheMs;
      const values = [createHash('sha256').update(key).digest()];
      const { rows } = await pool.query<Row>({ name: 'key', text, values });
      const [row] = rows;
      if (row?.company_id == null) return undefined;
      const caller = { keyId: row.id, companyId: row.company_id };
      accepted.set(key, { caller, until });
      return caller;
    },
  };
}
