import { type ProblemError, problem } from '../../../base/errors.ts';
import type { Database } from '../../../contract/transaction.ts';
import { isSecretForm } from '../../assets/claim-secret.ts';
import { countWrongSecret, type SecretCaller } from '../../assets/wrong-secret-store.ts';

type Tried = { readonly nftId: string; readonly secret: string; readonly caller: SecretCaller };

/**
 * Counts a wrong secret, in a commit of its own. A text that cannot be a secret is not counted.
 * @returns `secret_locked` when the caller has sent too many wrong ones
 */
export async function refuseMoreWrong(
  db: Database,
  { nftId, secret, caller }: Tried,
): Promise<ProblemError | undefined> {
  const seconds = isSecretForm(secret) ? await countWrongSecret(db, caller, nftId) : undefined;
  if (seconds === undefined) return undefined;
  return problem('secret_locked', {}, { headers: { 'Retry-After': String(seconds) } });
}
