import { randomBytes, randomUUID } from 'node:crypto';
import type { Client, TestService } from '../support/service.ts';
import { addMintable } from './mint-requests.ts';

/** An NFT that the holder of its secret may claim, the paths of its two operations, and its secret. */
export async function addClaimable(service: TestService, more = {}) {
  const made = await addMintable(service, 'acme', { claimPage: true, ...more });
  return { ...made, ...claimPaths(made.nft.id) };
}

export const claimPaths = (nftId: string) => {
  const claimPath = `/claim/v1/api/claims/${nftId}`;
  return { claimPath, statePath: `${claimPath}/state` };
};

/** An NFT whose RWA did not opt in. */
export async function addClosed(service: TestService) {
  const made = await addMintable(service);
  return { ...made, ...claimPaths(made.nft.id) };
}

/** The ids that nobody may claim with a wrong secret: of nothing, and of an NFT whose RWA did not opt in. */
export async function unclaimableIds(service: TestService) {
  const closed = await addClosed(service);
  return [
    { kind: 'unknown', id: randomUUID(), secret: wrongSecret() },
    { kind: 'not opted in', id: closed.nft.id, secret: wrongSecret() },
  ] as const;
}

/** A text that may be a secret, and is none. */
export const wrongSecret = () => randomBytes(24).toString('base64url');

let strangers = 0;

/** An address that nobody else has, for a service that trusts `X-Forwarded-For` from this machine. */
export function newAddress(): string {
  strangers += 1;
  return `198.51.${strangers >> 8}.${strangers & 255}`;
}

/** Settings by which {@link from} works. */
export const behindProxy = { settings: { TRUSTED_PROXIES: 'loopback' } };

/** POST as a stranger at this address. */
export const from = (anyone: Client, address: string) => (path: string) =>
  anyone.post(path).set('X-Forwarded-For', address);
