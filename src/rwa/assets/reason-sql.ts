/*
 * Why a mint that was accepted does not move, as SQL. Each reason is defined once, by a function of the database (migration 0032).
 */

// For less than this a signer that is away is no fault of the settings.
const unstaffedSeconds = 600;

/** Whether a process with the signer of the lane, a row of `mint_lanes`, has worked on it in the last 10 minutes. */
export const isStaffedSql = (lane: string) =>
  `((coalesce(${lane}.expires_at > clock_timestamp(), false) AND NOT ${lane}.watch_only)
    OR ${lane}.staffed_at > clock_timestamp() - interval '${unstaffedSeconds} seconds')`;

/** Why the lane, a row of `mint_lanes`, does not send: a {@link MintReason}; null when it does. */
export const laneReasonSql = (lane: string) => `mint_lane_reason(${lane})`;

/** Why lanes or its contract keep the NFT, a row of `nfts`, from moving; null when a lane that matters goes on. */
export const standingReasonSql = (nft: string) =>
  `nft_standing_reason(${nft}.id, ${nft}.mint_state, ${nft}.mint_chain_id)`;

/** Why the NFT, a row of `nfts`, does not move: its own note, else what stands. Reads by key only. */
export const nftReasonSql = (nft: string) =>
  `nft_mint_reason(${nft}.id, ${nft}.mint_state, ${nft}.mint_chain_id)`;
