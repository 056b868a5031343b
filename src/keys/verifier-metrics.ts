import type { Metrics } from '../base/metrics.ts';
import type { KeyVerifier } from './verifier.ts';

/** @returns a function that wraps a verifier, so that its results are counted */
export function createVerifierMeter(metrics: Metrics): (verifier: KeyVerifier) => KeyVerifier {
  const verifications = metrics.counter({
    name: 'tallystick_key_verifications_total',
    help: 'API keys that were verified: accepted, invalid, rate_limited, or unavailable when nobody could verify the key.',
    labels: ['outcome'],
  });
  return (verifier) => ({
    ...verifier,
    async verify(key, options) {
      const result = await verifier.verify(key, options).catch((error: unknown) => {
        verifications.inc({ outcome: 'unavailable' });
        throw error;
      });
      verifications.inc({ outcome: result.ok ? 'accepted' : result.reason });
      return result;
    },
    known(key) {
      const caller = verifier.known?.(key);
      if (caller !== undefined) verifications.inc({ outcome: 'accepted' });
      return caller;
    },
  });
}
