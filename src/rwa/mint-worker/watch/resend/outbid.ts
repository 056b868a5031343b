import { replacing } from '../../../../chain/minting/fees.ts';
import type { LaneContext } from '../../context/lane-context.ts';
import { limitsOf, marketAt } from '../../context/market.ts';
import { quoteFor } from '../../context/node-limits.ts';
import { findAskedFill, type Pause } from '../../stores/lane-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';
import type { ChainView } from '../evidence/chain-view.ts';
import { sendRaised } from './send-raised.ts';

/**
 * Raises what fills a nonce, for which an operator has asked, while nodes hold something else at the nonce that pays
 * more: whatever the market is like, by an eighth for each block, up to the cap.
 * @returns false when there is nothing to outbid, or it has to wait; then nothing has changed
 */
export async function outbid(
  context: LaneContext,
  view: ChainView,
  transaction: OpenTransaction,
): Promise<boolean> {
  const { db, lease, memory, settings, signer } = context;
  const { id, nonce, contract, attempts } = transaction;
  const [newest] = attempts;
  memory.capped.delete(id);
  if (contract !== signer.address || memory.underpriced.get(id) !== newest.hash) return false;
  if ((await findAskedFill(db, lease)) !== nonce) return false;
  const fresh = quoteFor(await marketAt(context, view.head), settings.feeCap, limitsOf(context));
  const fees = replacing(newest.fees, fresh, settings.feeCap);
  if (fees === undefined) {
    memory.capped.set(id, newest.fees.maxFeePerGas);
    return false;
  }
  return view.head.number > newest.sentAtBlock && sendRaised(context, view, transaction, fees);
}

/** Why what fills a nonce for an operator does not replace what waits there, where the cap is to blame. */
export function pauseForOutbid({ memory, settings }: LaneContext): Pause | undefined {
  const [offered] = memory.capped.values();
  if (offered === undefined) return undefined;
  const detail = `What fills a nonce offers ${offered} wei, too little to replace what waits there in a pool, and ${settings.feeCap} is the most that may be paid.`;
  return { reason: 'fee_above_cap', detail };
}
