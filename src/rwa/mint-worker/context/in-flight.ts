import { listUnconfirmedTransactions, type OpenTransaction } from '../stores/transaction-store.ts';
import type { LaneContext } from './lane-context.ts';

/** Lists the transactions of the lane that are in no block. */
export async function listInFlight({ db, lease, memory }: LaneContext): Promise<OpenTransaction[]> {
  const unconfirmed = await listUnconfirmedTransactions(db, lease);
  return unconfirmed.filter(({ id }) => memory.transactions.get(id)?.mined === undefined);
}

/** What the signer has left when these are paid, in wei. They reserve the most that they may cost. */
export async function balanceAfter(
  { node, signer }: LaneContext,
  transactions: readonly OpenTransaction[],
): Promise<bigint> {
  const reserved = transactions.reduce(
    (sum, { gasLimit, attempts: [{ fees }] }) => sum + gasLimit * fees.maxFeePerGas,
    0n,
  );
  return (await node.balance(signer.address)) - reserved;
}
