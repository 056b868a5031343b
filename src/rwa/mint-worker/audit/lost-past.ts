import type { Head } from '../../../chain/minting/mint-node.ts';
import { type Disagreement, isLostPast } from '../../minting/compare/compare-page.ts';
import {
  beginRecovery,
  claimContract,
  findClaimedContract,
  listContracts,
  type Recovery,
} from '../../minting/compare/contract-claim-store.ts';
import { findNewestMintedBlock } from '../../minting/compare/token-row-store.ts';
import { PacedError } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';
import { searchPast, type Wanted } from './past-search.ts';

/*
 * Notices that the chain knows more of this deployment's mints than the database does: it was restored from an older
 * backup, or another deployment has the same signer or contract. Nothing may be sent then, since serials would be given
 * again.
 */

/**
 * Looks for mints of our signers that no row has, on every contract of the network. Asked before a lane goes on above
 * nonces that it has not used itself.
 * @param purpose what it is asked for; asked for the same again, it goes on where it was, and is not repeated
 * @returns why the lanes of the network must wait; it is stored for all of them
 */
export async function findLostPast(
  context: LaneContext,
  head: Head,
  purpose: string,
): Promise<Pause | undefined> {
  const { db, lease, memory } = context;
  const { chainId } = lease;
  if (memory.past.run?.purpose !== purpose) {
    memory.past.run = { purpose, left: await listContracts(db, chainId), searches: new Map() };
  }
  const { left, searches } = memory.past.run;
  for (let contract = left[0]; contract !== undefined; contract = left[0]) {
    const claimed = await findClaimedContract(db, { chainId, contract });
    const from = larger(claimed?.comparedTo ?? -1n, claimed?.recoveredTo ?? -1n) + 1n;
    const found = await searchInTurn(context, head, { searches, contract, from, matches: isLostPast });
    if (found === 'searching') return searching(contract);
    if (found === 'no history') {
      const detail = `The key was used by more than we know of, and no node gives the logs of ${contract}.`;
      return { reason: 'foreign_nonce', detail };
    }
    if (found !== 'none') {
      memory.past.run = undefined;
      return beginRecoveryFor(context, contract, found);
    }
    left.shift();
  }
  return undefined;
}

const searching = (contract: string): Pause => ({
  reason: 'history_searched',
  detail: `Before anything is sent, what was minted on ${contract} is compared with the rows; a few blocks at a time.`,
});

async function searchInTurn(context: LaneContext, head: Head, wanted: Wanted) {
  try {
    return await searchPast(context, head, wanted);
  } catch (error) {
    // A search cut short says nothing about what it did not reach.
    if (error instanceof PacedError || context.stopping.aborted) return 'searching';
    throw error;
  }
}

/**
 * Claims a contract for this deployment before anything is sent to it for the first time, unless tokens exist on it
 * whose ids this deployment would give. Where the node gives no logs nothing is concluded: the contract's own refusal of
 * a second mint stays the guard.
 * @returns why nothing may be sent to the contract
 */
export async function claimForSending(
  context: LaneContext,
  head: Head,
  contract: string,
): Promise<Pause | undefined> {
  const { db, lease, log, memory, now } = context;
  const id = { chainId: lease.chainId, contract };
  const known = memory.claimed.get(contract);
  if (known !== undefined && now() < known) return undefined;
  const claimed = await findClaimedContract(db, id);
  if (claimed !== undefined) {
    if (claimed.shared !== null) return { reason: 'contract_shared', detail: claimed.shared };
    memory.claimed.set(contract, Number.POSITIVE_INFINITY);
    return undefined;
  }
  try {
    const matches = (found: Disagreement) => isLostPast(found) || isOfOthers(found);
    const { claims: searches } = memory.past;
    const found = await searchInTurn(context, head, { searches, contract, from: 0n, matches });
    if (found === 'searching') return searching(contract);
    if (found === 'no history') throw new Error('no node gives its logs');
    if (found !== 'none' && isLostPast(found)) return await beginRecoveryFor(context, contract, found);
    const shared =
      found === 'none'
        ? undefined
        : `${contract} has a token that is not ours: ${found.tokenId}, ${found.detail}.`;
    await claimContract(db, id, shared);
    return shared === undefined ? undefined : { reason: 'contract_shared', detail: shared };
  } catch (err) {
    const level = known === undefined ? 'warn' : 'debug';
    log[level]({ err, contract }, 'unknown whether another deployment uses the contract');
    memory.claimed.set(contract, now() + retryMs);
    return undefined;
  }
}

const retryMs = 30_000;

/** Whether somebody else has minted an id that this deployment gives, or would give next. */
const isOfOthers = ({ kind, facts }: Disagreement) =>
  kind === 'foreign' || (kind === 'serial_reused' && facts?.isOwn === false);

async function beginRecoveryFor(
  context: LaneContext,
  contract: string,
  found: Disagreement,
): Promise<Recovery> {
  const { db, lease, log } = context;
  const { chainId } = lease;
  const recovery = await reasonOf(context, contract, found);
  await beginRecovery(db, chainId, recovery);
  log.error({ chainId, contract, ...recovery }, 'the chain knows more mints than the database');
  return recovery;
}

const larger = (one: bigint, other: bigint) => (one > other ? one : other);

/** A past that ends before what the database knows is not one that a restore has lost. */
async function reasonOf(
  { db, lease }: LaneContext,
  contract: string,
  { detail, event, tokenId }: Disagreement,
): Promise<Recovery> {
  const newest = await findNewestMintedBlock(db, { chainId: lease.chainId, contract });
  const isOlder = event !== undefined && newest !== undefined && event.blockNumber < newest;
  const about = `On ${contract}, token ${tokenId}: ${detail}.`;
  return isOlder
    ? { reason: 'contract_shared', detail: `Another deployment seems to mint with our key. ${about}` }
    : { reason: 'recovery_needed', detail: `The database is older than the chain. ${about}` };
}
