import type { Database } from '../../contract/transaction.ts';
import { type ClaimSecretVault, createClaimSecretVault } from '../../rwa/assets/claim-secret.ts';
import { findOperatorRwa, type OperatorRwa } from '../../rwa/operators/rwa-admin-store.ts';
import { UsageError } from '../shared/failure.ts';
import type { Operator } from '../shared/session.ts';
import { isUuid } from '../shared/values.ts';

/** An RWA as commands print it: its number, which is part of token ids, as text; its counters as integers. */
export const shown = ({ number, totalNfts, claimedNfts, ownClaimBaseUrl: _, ...rwa }: OperatorRwa) => ({
  ...rwa,
  number: String(number),
  totalNfts: Number(totalNfts),
  claimedNfts: Number(claimedNfts),
});

/** @throws UsageError when no RWA has this id */
export async function findRwaRecord(db: Database, id: string): Promise<OperatorRwa> {
  const found = isUuid(id) ? await findOperatorRwa(db, id) : undefined;
  if (found === undefined) throw new UsageError(`There is no RWA ${id}. List them with: tallystick rwa list`);
  return found;
}

/** The vault of claim secrets. @throws UsageError without the setting SECRET_KEYS */
export function vaultOf({ config }: Pick<Operator, 'config'>): ClaimSecretVault {
  if (config.SECRET_KEYS === undefined) {
    throw new UsageError(
      'SECRET_KEYS is missing: claim secrets are encrypted with it. Set it as for the service.',
    );
  }
  return createClaimSecretVault(config.SECRET_KEYS);
}
