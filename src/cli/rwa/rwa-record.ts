import { type ClaimSecretVault, createClaimSecretVault } from '../../rwa/assets/claim-secret.ts';
import { findOperatorRwa, type OperatorRwa } from '../../rwa/operators/rwa-admin-store.ts';
import { UsageError } from '../shared/failure.ts';
import type { Database, Operator } from '../shared/session.ts';

/** An RWA for people and programs: its number, part of token ids, as text; its counters as integers. */
export const shown = ({ number, totalNfts, claimedNfts, ...rwa }: OperatorRwa) => ({
  ...rwa,
  number: String(number),
  totalNfts: Number(totalNfts),
  claimedNfts: Number(claimedNfts),
});

/** @throws UsageError when there is none */
export async function findRwa(db: Database, id: string): Promise<OperatorRwa> {
  const found = isUuid(id) ? await findOperatorRwa(db, id) : undefined;
  if (found === undefined) throw new UsageError(`There is no RWA ${id}. List them with: tallystick rwa list`);
  return found;
}

export const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Opens and seals claim secrets. @throws UsageError without the setting that it needs */
export function vaultOf({ config }: Pick<Operator, 'config'>): ClaimSecretVault {
  if (config.SECRET_KEYS === undefined) {
    throw new UsageError(
      'SECRET_KEYS is missing: claim secrets are encrypted with it. Set it as for the service.',
    );
  }
  return createClaimSecretVault(config.SECRET_KEYS);
}
