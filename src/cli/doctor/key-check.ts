import { redactUrl } from '../../base/log.ts';
import { errorText } from '../../base/thrown.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { createNotifications } from '../../db/connection/notifications.ts';
import { findCompanyById } from '../../keys/company-store.ts';
import { createVerifier } from '../../keys/create-verifier.ts';
import { generateKey } from '../../keys/key-format.ts';
import type { KeyVerifier } from '../../keys/verifier.ts';
import { type Finding, finding } from '../shared/finding.ts';
import type { DoctorParts } from './doctor-parts.ts';

/**
 * Verifies keys as the service does: one that nobody has, which must be rejected, and a real one where it is given.
 * @param key a real key; undefined where none was given
 */
export async function examineVerifier(parts: DoctorParts, key: string | undefined): Promise<Finding[]> {
  // The own key store listens; left open, it would keep the command from ending.
  const notifications = createNotifications({ url: parts.config.DATABASE_URL, log: parts.log });
  const verifier = await createVerifier(parts.config, { ...parts, notifications });
  try {
    const refusal = await finding('authentication', () => askAboutNobody(verifier, parts.config));
    // Without an answer there, another question would only wait for the same.
    const isAsked = key !== undefined && refusal.state === 'ok';
    return isAsked ? [refusal, await finding('key', () => askAbout(verifier, parts.db, key))] : [refusal];
  } finally {
    await verifier.close();
    await notifications.close();
  }
}

const placeOf = ({ KEY_VERIFIER, AUTH_URL }: Config) =>
  KEY_VERIFIER === 'remote' ? redactUrl(AUTH_URL ?? '') : 'the own key store';

/** A rejection is the right answer. @throws Error on any other outcome */
async function askAboutNobody(verifier: KeyVerifier, config: Config): Promise<string> {
  try {
    const { ok } = await verifier.verify(generateKey(config.KEY_ENVIRONMENT));
    if (ok) throw new Error('It accepts a key that nobody has.');
    return `${placeOf(config)} answers, and rejects a key that nobody has`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    const settings =
      config.KEY_VERIFIER === 'remote' ? ' Check AUTH_URL, AUTH_CREDENTIAL and AUTH_DIALECT.' : '';
    throw new Error(`${errorText(error)}${cause}${settings}`, { cause: error });
  }
}

/** @throws Error when the service would not let the key in, or not to anything */
async function askAbout(verifier: KeyVerifier, db: Database, key: string): Promise<string> {
  const result = await verifier.verify(key);
  if (!result.ok) {
    if (result.reason === 'rate_limited')
      throw new Error('TALLYSTICK_KEY is over its limit: wait, or raise it.');
    throw new Error('TALLYSTICK_KEY is rejected: it is unknown, revoked or expired; tallystick key list');
  }
  const { keyId, companyId } = result.caller;
  if (!companyId) return `TALLYSTICK_KEY is accepted as ${keyId}, of no company: for blockchain data only`;
  const company = await findCompanyById(db, companyId);
  if (company === undefined)
    throw new Error(
      `TALLYSTICK_KEY is of company ${companyId}, which is not here: tallystick company create`,
    );
  return `TALLYSTICK_KEY is accepted as ${keyId} of ${company.name}`;
}
