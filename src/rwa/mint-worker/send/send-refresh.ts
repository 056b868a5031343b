import type { Fees } from '../../../chain/minting/fees.ts';
import { mostGas } from '../../../chain/minting/gas.ts';
import { encodeRefresh, type TokenIdRange } from '../../../chain/minting/mint-contract.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import { tokenRangeOf } from '../../assets/token-id.ts';
import { pauseForComparison } from '../audit/comparison.ts';
import { balanceAfter, listInFlight } from '../context/in-flight.ts';
import { isOfNode, wordsOf } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { endRest, rest } from '../context/rests.ts';
import { type DueRefresh, forgetRefreshes, takeDueRefresh } from '../stores/refresh-store.ts';
import { nextNonce } from './nonce.ts';
import { storeAndSend } from './store-and-send.ts';

// What is not to be had now may be there soon. Only a contract that rejects the report rests for longer.
const longestRestMs = 3_600_000;

/**
 * Reports to marketplaces that metadata of an RWA changed (ERC-4906), while no other report of the lane is without a block. So
 * mints wait for one transaction at most. What keeps a report from being sent pauses nothing.
 */
export async function sendRefresh(
  context: LaneContext,
  head: Head,
  fees: Fees,
  { contract, number, rwaId }: DueRefresh,
): Promise<void> {
  const { lease, settings, signer } = context;
  const inFlight = await listInFlight(context);
  if (inFlight.length >= settings.maxInFlight || inFlight.some((each) => each.rwaId !== null)) return;
  const pause = await pauseForComparison(context, head, contract);
  if (pause !== undefined) {
    if (pause.reason !== 'history_searched') rest(context, 'reports', contract);
    return;
  }
  const refresh = tokenRangeOf(BigInt(number));
  const gasLimit = await gasFor(context, contract, refresh);
  if (gasLimit === undefined) return;
  const isPayable = gasLimit * fees.maxFeePerGas <= (await balanceAfter(context, inFlight));
  if (!isPayable || gasLimit > mostGas({ blockGasLimit: head.gasLimit, blockShare: settings.blockShare })) {
    rest(context, 'reports', contract);
    return;
  }
  const nonce = await nextNonce(context, head);
  if (typeof nonce !== 'bigint' || context.stopping.aborted) return;
  const { chainId } = lease;
  const signed = await signer.sign({ chainId, nonce, contract, refresh, gasLimit, fees });
  await context.step('signed', { nonce: nonce.toString(), hash: signed.hash });
  const created = { nonce, contract, gasLimit, rwaId };
  await storeAndSend(context, { ...created, signed, fees, sentAtBlock: head.number }, (tx) =>
    takeDueRefresh(tx, rwaId, settings.refreshSeconds),
  );
  endRest(context, 'reports', contract);
}

/**
 * Asks what gas the report needs, with an eighth more, since the state may change until it is mined.
 * @returns undefined when the contract rejects it, or the nodes do not say; then the contract rests
 */
async function gasFor(
  context: LaneContext,
  contract: string,
  range: TokenIdRange,
): Promise<bigint | undefined> {
  const { db, lease, log, memory, node, signer } = context;
  try {
    const estimate = await node.estimate(signer.address, contract, encodeRefresh(range));
    if (typeof estimate === 'bigint') return (estimate * 9n) / 8n;
    const isNews = !memory.rests.has(`reports ${contract}`);
    rest(context, 'reports', contract, longestRestMs);
    const forgotten = await forgetRefreshes(db, lease.chainId, contract);
    const facts = { ...lease, contract, refusal: estimate.refusal, forgotten };
    const text =
      'the contract does not let the signer report changed metadata; run tallystick contract refresh';
    if (isNews || forgotten > 0) log.warn(facts, text);
  } catch (error) {
    if (!isOfNode(error)) throw error;
    log.debug({ ...lease, contract, words: wordsOf(error) }, 'nodes do not say what a report would do');
    rest(context, 'reports', contract);
  }
  return undefined;
}
