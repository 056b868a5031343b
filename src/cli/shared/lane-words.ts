import type { Config } from '../../config/config.ts';
import type { LaneStatus } from '../../rwa/minting/lane-status-store.ts';
import { notRegistered, remedyOf } from '../../rwa/minting/mint-reason.ts';

/** Why a lane does not send, since when, and what to do about it; undefined for a lane that sends. */
export function laneWords({ chainId, paused, pausedAt, signer, why }: LaneStatus): string | undefined {
  if (paused === null) return undefined;
  const since = pausedAt === null ? '' : ` since ${pausedAt.toISOString()}`;
  return `The lane of ${signer} on ${chainId}: ${paused}${since}. ${why === null ? '' : `${why} `}${remedyOf(paused)}`;
}

/** A sentence for each network that MINT_SIGNERS names and nobody has registered: its signers have no lane. */
export function unregisteredSigners(
  { MINT_SIGNERS = [] }: Pick<Config, 'MINT_SIGNERS'>,
  networks: readonly { readonly chainId: string }[],
): string[] {
  const named = new Set(MINT_SIGNERS.map(({ chainId }) => chainId));
  return [...named]
    .filter((id) => !networks.some(({ chainId }) => chainId === id))
    .map((id) => `MINT_SIGNERS: ${notRegistered(id)}`);
}
