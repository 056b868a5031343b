/*
 * Why a mint that was accepted does not move, as SQL. A lane's reason is read and not written to the row of each NFT
 * that waits for it, which may be a hundred thousand.
 */

// For less than this a lane without a worker is one whose worker is being replaced.
const unheldSeconds = 60;
// The service still accepts mints for a lane that has been without its signer for less than this.
const unstaffedSeconds = 600;

const isHeld = (lane: string) => `coalesce(${lane}.expires_at > clock_timestamp(), false)`;

/** Whether a process with the signer of the lane, a row of `mint_lanes`, has worked on it in the last 10 minutes. */
export const isStaffedSql = (lane: string) =>
  `((${isHeld(lane)} AND NOT ${lane}.watch_only)
    OR ${lane}.staffed_at > clock_timestamp() - interval '${unstaffedSeconds} seconds')`;

/** Why the lane, a row of `mint_lanes`, does not send: a {@link MintReason}; null when it does. */
export const laneReasonSql = (lane: string) =>
  `CASE WHEN ${lane}.stopped_by_operator THEN 'operator'
     WHEN ${isHeld(lane)} OR ${lane}.staffed_at > clock_timestamp() - interval '${unheldSeconds} seconds'
     THEN ${lane}.pause_reason ELSE 'no_worker' END`;

const reasonsOfSending = [
  'operator',
  'contract_refuses',
  'contract_shared',
  'contract_unanswered',
  'history_searched',
  'recovery_needed',
  'signer_unavailable',
];

/** Whether a lane that stands for this reason only sends nothing new: what is sent moves on all the same. */
export const isOfSending = (reason: string): boolean => reasonsOfSending.includes(reason);

const ofSending = `(${reasonsOfSending.map((reason) => `'${reason}'`).join(', ')})`;

// A lane that cannot say what is final sends and confirms all the same.
const standing = (lane: string) => `nullif(${laneReasonSql(lane)}, 'finality_unknown')`;

const ofNetwork = (nft: string) => `(
  SELECT CASE WHEN count(*) = 0 THEN 'no_signer' WHEN count(*) = count(r.reason) THEN min(r.reason) END
  FROM (SELECT ${standing('l')} AS reason FROM mint_lanes l WHERE l.chain_id = ${nft}.mint_chain_id) r)`;

const ofItsLane = (nft: string) => `(
  SELECT r.reason FROM (
    SELECT ${standing('l')} AS reason FROM mint_transaction_nfts o
      JOIN mint_transactions t ON t.id = o.transaction_id
      JOIN mint_lanes l ON l.chain_id = t.chain_id AND l.signer = t.signer
    WHERE o.nft_id = ${nft}.id AND o.state = 'open') r
  WHERE r.reason NOT IN ${ofSending})`;

/** Why the lanes keep the NFT, a row of `nfts`, from moving; null when one of those that matter goes on. */
export const standingLaneSql = (nft: string) =>
  `CASE ${nft}.mint_state WHEN 'queued' THEN ${ofNetwork(nft)} WHEN 'submitted' THEN ${ofItsLane(nft)} END`;

/** Why the NFT, a row of `nfts`, does not move: its own note, else what its lanes say. Reads by key only. */
export const nftReasonSql = (nft: string) =>
  `CASE WHEN ${nft}.mint_state IN ('queued', 'submitted') THEN coalesce(
     (SELECT m.reason FROM mint_notes m WHERE m.nft_id = ${nft}.id), ${standingLaneSql(nft)}) END`;

/** The same for one NFT, by a function of the database (migration 0018): less for a single row, more for many. */
export const reasonOfOneSql = (nft: string) =>
  `CASE WHEN ${nft}.mint_state IN ('queued', 'submitted')
     THEN nft_mint_reason(${nft}.id, ${nft}.mint_state, ${nft}.mint_chain_id) END`;
