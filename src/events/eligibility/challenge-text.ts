import type { Challenge } from './challenge-store.ts';

/** Where the service is, as texts to sign name it. */
export type ChallengePlace = {
  /** The host that wallets show to their owners. */
  readonly domain: string;
  /** The address of the events area, without a slash at its end. */
  readonly areaUrl: string;
};

/** The text of a challenge, in the form of ERC-4361. */
export function challengeText(
  { domain, areaUrl }: ChallengePlace,
  { wallet, eventId, chainId, nonce, issuedAt, expiresAt }: Challenge,
): string {
  return `${domain} wants you to sign in with your Ethereum account:
${wallet}

Prove that this wallet is yours, to attend an event. This costs nothing.

URI: ${areaUrl}
Version: 1
Chain ID: ${chainId}
Nonce: ${nonce}
Issued At: ${issuedAt.toISOString()}
Expiration Time: ${expiresAt.toISOString()}
Resources:
- ${areaUrl}/event/${eventId}`;
}

/** The nonce that a text names. */
export const nonceOf = (text: string): string | undefined => /^Nonce: ([0-9a-f]{32})$/m.exec(text)?.[1];
