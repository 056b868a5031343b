import type { Caller } from './operation.ts';

/** Names the tenant whose share of the process and its database a caller takes: its company with all its keys, or its key. */
export function tenantOf({ companyId, keyId }: Pick<Caller, 'companyId' | 'keyId'>): string {
  return companyId || notOfCompany(`key ${keyId}`);
}

/** The name of a share that is no company's: ids of companies have no control characters. */
export function notOfCompany(name: string): string {
  return `\u0001${name}`;
}
