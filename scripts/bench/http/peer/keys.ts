import { createHash } from 'node:crypto';
import type { Ask } from './statements.ts';

export type Caller = { readonly keyId: string; readonly companyId: string };

const cacheMs = 9_000;

/** Checks keys, which are remembered for 9 s. @returns undefined for a key that is not usable */
export function createKeyCheck(ask: Ask): (key: string) => Promise<Caller | undefined> {
  const known = new Map<string, { readonly caller: Caller; readonly until: number }>();
  return async (key) => {
    const hash = createHash('sha256').update(key).digest('hex');
    const found = known.get(hash);
    if (found !== undefined && found.until > performance.now()) return found.caller;
    const [row] = await ask<{ id: string; company_id: string | null }>(
      'key',
      `SELECT id, company_id FROM api_keys
       WHERE hash = decode($1, 'hex') AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
      [hash],
    );
    if (row?.company_id == null) return undefined;
    const caller = { keyId: row.id, companyId: row.company_id };
    known.set(hash, { caller, until: performance.now() + cacheMs });
    return caller;
  };
}
