import { raise } from '../../../chain/minting/fees.ts';
import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';
import { listUnconfirmedTransactions, type OpenTransaction } from '../stores/transaction-store.ts';

/**
 * Why transactions in flight are not mined, where the price is to blame and the cap keeps them from paying it. Asks for
 * the market only while one has waited for so long that it would be replaced.
 */
export async function pauseForPrice(context: LaneContext, head: Head): Promise<Pause | undefined> {
  const { db, lease, memory, node, settings } = context;
  const unconfirmed = await listUnconfirmedTransactions(db, lease);
  // Since its first attempt: replacements that the price outruns too do not make it move.
  const isWaiting = ({ id, attempts }: OpenTransaction) => {
    const sentAt = attempts.at(-1)?.sentAtBlock ?? attempts[0].sentAtBlock;
    return !memory.mined.has(id) && head.number - sentAt >= BigInt(settings.stuckBlocks);
  };
  const waiting = unconfirmed.filter(isWaiting);
  if (waiting.length === 0) return undefined;
  const market = await node.market(head);
  const price = (market.baseFee ?? 0n) + market.suggested;
  const kept = waiting.find(({ attempts: [{ fees }] }) => {
    const isOutbid = fees.maxFeePerGas < price;
    return isOutbid && (price > settings.feeCap || raise(fees, market, settings.feeCap) === undefined);
  });
  if (kept === undefined) return undefined;
  const detail = `Gas costs ${price} wei; the transaction with nonce ${kept.nonce} offers ${kept.attempts[0].fees.maxFeePerGas}, and ${settings.feeCap} is the most that may be paid.`;
  return { reason: 'fee_above_cap', detail };
}
