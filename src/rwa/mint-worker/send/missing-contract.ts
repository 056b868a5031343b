import type { ContractLook } from '../../../chain/minting/evidence-node.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { isOfNode } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';

const words: Readonly<Record<Exclude<ContractLook, 'contract'>, string>> = {
  no_code: 'it has no code',
  nonsense: 'it answers who owns a token that does not exist with nonsense',
};

/**
 * Finds whether nothing at an address mints, at the newest block. What is queued for it waits: a contract may be deployed there.
 * Nonsense stops no contract that this lane has found to mint: the events of its mints prove them.
 * @returns why nothing is sent to it; undefined when it may mint, or the node does not show it: then the estimate decides
 */
export async function pauseForMissing(
  { memory, node }: LaneContext,
  head: Head,
  contract: string,
): Promise<Pause | undefined> {
  try {
    const look = await node.lookAt(contract, head.number);
    if (look === 'contract' || (look === 'nonsense' && memory.mintsAt.has(contract))) return undefined;
    return { reason: 'contract_refuses', detail: `${contract} is no contract that mints: ${words[look]}.` };
  } catch (error) {
    if (isOfNode(error)) return undefined;
    throw error;
  }
}
