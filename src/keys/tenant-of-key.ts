import { tenantOf } from '../contract/tenant.ts';
import type { KeyVerifier } from './verifier.ts';

/** Whose share a request takes by its key, before anybody is asked about it; undefined for a stranger's. */
export function tenantOfKey(verifier: KeyVerifier, key: string): string | undefined {
  const caller = verifier.known?.(key);
  return caller === undefined ? verifier.lastTenant?.(key) : tenantOf(caller);
}
