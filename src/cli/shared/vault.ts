import { type ClaimSecretVault, createClaimSecretVault } from '../../rwa/assets/claim-secret.ts';
import { UsageError } from './failure.ts';
import type { Operator } from './session.ts';

/** The vault of claim secrets. @throws UsageError without the setting SECRET_KEYS */
export function vaultOf({ config }: Pick<Operator, 'config'>): ClaimSecretVault {
  if (config.SECRET_KEYS !== undefined) return createClaimSecretVault(config.SECRET_KEYS);
  throw new UsageError(
    'SECRET_KEYS is missing: claim secrets are encrypted with it. Set it as for the service.',
  );
}
