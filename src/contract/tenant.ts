import type { Caller } from './operation.ts';

/** Whose share of the process and its database a caller takes: its company's with all its keys, or that of its key. */
export function tenantOf({ companyId, keyId }: Pick<Caller, 'companyId' | 'keyId'>): string {
  return companyId || `key ${keyId}`;
}
