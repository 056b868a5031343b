import type { BlockRange, MintEvent } from '../../../chain/minting/mint-history.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import { NodesUnavailableError } from '../../../chain/rpc/node-fault.ts';
import { type Comparison, compareMints, type Disagreement, isLostPast } from '../../minting/compare-page.ts';
import {
  beginRecovery,
  claimContract,
  findClaimedContract,
  listContracts,
  listSigners,
  type Recovery,
} from '../../minting/contract-claim-store.ts';
import { findNewestMintedBlock } from '../../minting/token-row-store.ts';
import type { LaneContext } from '../lane-context.ts';
import { isOwnAttempt } from '../stores/attempt-store.ts';
import type { Pause } from '../stores/lane-store.ts';

/*
 * Notices that the chain knows more of this deployment's mints than the database does: it was restored from an older
 * backup, or another deployment has the same signer or contract. Nothing may be sent then, since serials would be given
 * again.
 */

/**
 * Looks for mints of our signers that no row has, on every contract of the network. Asked before a lane goes on above
 * nonces that it has not used itself.
 * @returns why the lanes of the network must wait; it is stored for all of them
 */
export async function findLostPast(context: LaneContext): Promise<Pause | undefined> {
  const { db, lease, node } = context;
  const { chainId } = lease;
  const head = await node.head();
  for (const contract of await listContracts(db, chainId)) {
    const claimed = await findClaimedContract(db, { chainId, contract });
    const from = larger(claimed?.comparedTo ?? -1n, claimed?.recoveredTo ?? -1n) + 1n;
    const found = await searchDown(context, contract, { from, to: head.number }, isLostPast);
    if (found === 'no history') {
      const detail = `The key was used by more than we know of, and no node gives the logs of ${contract}.`;
      return { reason: 'foreign_nonce', detail };
    }
    if (found === undefined) continue;
    return beginRecoveryFor(context, contract, found);
  }
  return undefined;
}

/**
 * Claims a contract for this deployment before anything is sent to it for the first time, unless tokens exist on it
 * whose ids this deployment would give. Where the node gives no logs nothing is concluded: the contract's own refusal of
 * a second mint stays the guard.
 * @returns why nothing may be sent to the contract
 */
export async function claimForSending(context: LaneContext, contract: string): Promise<Pause | undefined> {
  const { db, lease, log, memory, node, now, stopping } = context;
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
    const head = await node.head();
    const matches = (found: Disagreement) => isLostPast(found) || isOfOthers(found);
    const found = await searchDown(context, contract, { from: 0n, to: head.number }, matches);
    // A search cut short says nothing about what it did not reach.
    if (stopping.aborted) return undefined;
    if (found === 'no history') throw new Error('no node gives its logs');
    if (found !== undefined && isLostPast(found)) return await beginRecoveryFor(context, contract, found);
    const shared = found && `${contract} has a token that is not ours: ${found.tokenId}, ${found.detail}.`;
    await claimContract(db, id, shared);
    return shared === undefined ? undefined : { reason: 'contract_shared', detail: shared };
  } catch (err) {
    log.warn({ err, contract }, 'unknown whether another deployment uses the contract');
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

// With ten thousand blocks at once, two million blocks; what is older is left to the audit.
const mostQueries = 200;
const widest = 10_000n;

/** Searches mints from the newest block downwards, as far as the node's history reaches. */
async function searchDown(
  context: LaneContext,
  contract: string,
  { from, to }: BlockRange,
  matches: (found: Disagreement) => boolean,
): Promise<Disagreement | 'no history' | undefined> {
  const { db, lease, node, stopping } = context;
  const signers = new Set(await listSigners(db, lease.chainId));
  const comparison: Comparison = { db, node, chainId: lease.chainId, contract, signers, finalized: to };
  let last = to;
  let width = widest;
  for (let queries = 0; queries < mostQueries && last >= from && !stopping.aborted; queries += 1) {
    const first = larger(from, last - width + 1n);
    const mints = await askOrNarrow(node, contract, { from: first, to: last });
    if (mints === 'refused') {
      if (first === last) return last === to ? 'no history' : undefined;
      width = (last - first + 1n) / 2n;
      continue;
    }
    for (const found of (await compareMints(comparison, mints)).filter(matches)) {
      if (!(await isStillWatched(db, found))) return found;
    }
    last = first - 1n;
  }
  return undefined;
}

/**
 * Whether a mint that its row does not tell is of a transaction that the database knows: a reorganisation has brought
 * it back, or it was mined since the row was read.
 */
const isStillWatched = async (db: LaneContext['db'], { kind, event }: Disagreement): Promise<boolean> =>
  kind === 'not_recorded' && event !== undefined && isOwnAttempt(db, event.hash);

/** @returns `refused` when the node answers with an error; an outage rejects */
async function askOrNarrow(
  node: MintNode,
  contract: string,
  range: BlockRange,
): Promise<readonly MintEvent[] | 'refused'> {
  try {
    return await node.allMintsIn(contract, range);
  } catch (error) {
    if (error instanceof NodesUnavailableError) throw error;
    return 'refused';
  }
}
