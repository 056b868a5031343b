import type { Head } from '../../../chain/minting/mint-node.ts';
import { findCompared } from '../../minting/compare/compared-contract-store.ts';
import { createInquiry, isOfNode, PacedError, wordsOf } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';
import { compareFinal } from './comparison.ts';

// The newest block may be the same for long, and a node that failed is asked again.
const longestLookMs = 5_000;
// For all contracts: each question for logs costs a node much.
const mostQuestions = 10;

/**
 * Has a contract compared before something is sent to it, up to the block that was final when the lane was taken: a database
 * that was restored since may lack what the chain has.
 * @returns why nothing may be sent to the contract yet; a recovery is needed for the whole network
 */
export async function pauseForComparison(
  context: LaneContext,
  head: Head,
  contract: string,
): Promise<Pause | undefined> {
  const { db, lease, log, memory, network, node, stopping } = context;
  const { compared } = memory;
  if (compared.contracts.has(contract)) return undefined;
  const finalized = await node.finalized(head, network.finalityDepth);
  // Nothing can be compared while nothing is final.
  if (finalized < 0n) return undefined;
  compared.to ??= finalized;
  const { to } = compared;
  try {
    const row = await findCompared(db, { chainId: lease.chainId, contract });
    const ask = askInLook(context, head);
    const { width } = memory.evidence;
    for await (const { lost } of compareFinal({ db, log, node, contract: row, to, ask, width })) {
      if (lost !== undefined) return { reason: 'recovery_needed', detail: lost };
    }
    compared.contracts.add(contract);
    return undefined;
  } catch (error) {
    if (error instanceof PacedError || stopping.aborted) {
      const detail = `Before anything is sent, what was minted on ${contract} is compared with the rows; a few blocks at a time.`;
      return { reason: 'history_searched', detail };
    }
    if (!isOfNode(error)) throw error;
    return {
      reason: 'history_unavailable',
      detail: `No node gives what was minted on ${contract}, to be compared with the rows: ${wordsOf(error)}`,
    };
  }
}

/** What one look at the chain may ask, however many polls and contracts share it. */
function askInLook(context: LaneContext, head: Head) {
  const { memory, now } = context;
  const { look } = memory.compared;
  if (look?.hash === head.hash && now() - look.at < longestLookMs) return look.ask;
  const { ask } = createInquiry(context, mostQuestions);
  memory.compared.look = { hash: head.hash, at: now(), ask };
  return ask;
}
