import { randomUUID } from 'node:crypto';
import type { TestService } from '../support/service.ts';
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

/** The ids that nobody may claim: of nothing, and of an NFT whose RWA did not opt in, with its right secret. */
export async function unclaimableIds(service: TestService) {
  const closed = await addMintable(service);
  return [
    { kind: 'unknown', id: randomUUID(), secret: 'any' },
    { kind: 'not opted in', id: closed.nft.id, secret: closed.secret },
  ] as const;
}
