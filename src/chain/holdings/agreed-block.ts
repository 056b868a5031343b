import type { JsonRpcApiProvider } from 'ethers';
import { ProblemError } from '../../base/errors.ts';
import { createMintNode } from '../minting/mint-node.ts';
import type { Network } from '../rpc/client/network.ts';
import type { RpcClients } from '../rpc/client/rpc-clients.ts';
import type { PinnedNode } from '../rpc/pool/pinned-node.ts';
import { NodesUnavailableError } from '../rpc/transport/node-fault.ts';
import type { BlockId } from '../rpc/transport/node-look.ts';

/** The block at which a chain is read. */
export type AgreedBlock = BlockId & { readonly chainId: string; readonly time: Date };

/** Nobody knows what a chain says: no node answers, or nodes disagree. The reason is for callers. */
export class ChainUnreadError extends Error {
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.name = 'ChainUnreadError';
    this.reason = reason;
    this.retryAfterMs = cause instanceof NodesUnavailableError ? cause.retryAfterMs : undefined;
  }
}

type Reading = {
  readonly clients: Pick<RpcClients, 'pool'>;
  readonly network: Network;
  /** The newest block of the network that is stored as final. */
  readonly known: BlockId | undefined;
};

/**
 * Reads a chain at the newest confirmed block that its nodes agree on. All questions go to one node.
 * @throws ProblemError `overloaded`; ChainUnreadError, also when the chain replaced the block meanwhile
 */
export async function readAtAgreedBlock<T>(
  { clients, network, known }: Reading,
  read: (node: JsonRpcApiProvider, block: AgreedBlock) => Promise<T>,
): Promise<T> {
  const { chainId, confirmations } = network;
  const of = `of the network with chainId ${chainId}`;
  let pinned: PinnedNode | undefined;
  try {
    pinned = await clients.pool(network).pin({ ...network, known });
    if (pinned.disagreement !== undefined) throw new ChainUnreadError(`the nodes ${of} disagree`);
    if (pinned.rolledBack !== undefined) throw new ChainUnreadError(`a final block ${of} was replaced`);
    const node = createMintNode(pinned.provider, pinned);
    const newest = (await node.head()).number - BigInt(confirmations) + 1n;
    const block = await node.block(newest < 0n ? 0n : newest);
    if (block === null) throw new ChainUnreadError(`the nodes ${of} lack a block that they had`);
    const { number, hash, time } = block;
    const result = await read(pinned.provider, { chainId, number, hash, time });
    if ((await node.block(number))?.hash !== hash)
      throw new ChainUnreadError(`the block ${number} ${of} was replaced`);
    return result;
  } catch (cause) {
    // The company asks for too much: no node is to blame.
    if (cause instanceof ChainUnreadError || cause instanceof ProblemError) throw cause;
    pinned?.preferOthers();
    throw new ChainUnreadError(`no node ${of} answers`, cause);
  }
}
