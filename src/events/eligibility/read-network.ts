import { problem } from '../../base/errors.ts';
import { findFinalBlock } from '../../chain/finality-store.ts';
import { ChainUnreadError, readAtAgreedBlock } from '../../chain/holdings/agreed-block.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';

export type ReaderParts = {
  readonly db: Database;
  readonly networks: Pick<NetworkRegistry, 'find'>;
  readonly clients: Pick<RpcClients, 'pool'>;
};

/**
 * Reads a network at one block on which its nodes agree.
 * @throws ProblemError `eligibility_unavailable`
 */
export async function readNetwork<T>(
  { db, networks, clients }: ReaderParts,
  chainId: string,
  read: Parameters<typeof readAtAgreedBlock<T>>[1],
): Promise<T> {
  const network = await networks.find(chainId);
  if (network === undefined) throw unavailable(`the network with chainId ${chainId} is not registered`);
  const known = await findFinalBlock(db, chainId);
  return readAtAgreedBlock({ clients, network, known }, read).catch((cause: unknown) => {
    if (!(cause instanceof ChainUnreadError)) throw cause;
    const { reason, retryAfterMs } = cause;
    throw unavailable(reason, { cause, retryAfterMs });
  });
}

/** Returns the problem that nobody knows now what a wallet owns or has signed. */
export const unavailable = (
  reason: string,
  extras?: { readonly cause: unknown; readonly retryAfterMs: number | undefined },
) => problem('eligibility_unavailable', { reason }, extras);

/** Returns the problem of an event that is changed again and again while chains are read for it. */
export const changesTooOften = () => unavailable('the event changes too often');
