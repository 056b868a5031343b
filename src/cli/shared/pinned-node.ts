import { setTimeout as wait } from 'node:timers/promises';
import { findFinalBlock } from '../../chain/finality-store.ts';
import { createMintNode, type MintNode } from '../../chain/minting/mint-node.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { FinalityRules } from '../../chain/rpc/pool/node-consensus.ts';
import type { NodePool } from '../../chain/rpc/pool/node-pool.ts';
import type { PinnedNode } from '../../chain/rpc/pool/pinned-node.ts';
import { OperationError } from './failure.ts';
import type { Operator } from './session.ts';

// One poll may meet a node at a bad moment, and does not show that a node stalls.
const looks = 3;
const pauseMs = 300;
// Nodes of a fast network are some blocks apart all the time.
const normalBlocks = 3n;

/**
 * Chooses one node, which answers every question that a remedy rests on. Enough nodes must agree on its final block.
 * @param network with the block that was final before, where a chain without it proves nothing
 * @throws OperationError when nodes disagree, too few can say what is final, or none has the block;
 *   NodesUnavailableError
 */
export async function pinNode(
  { clients }: Pick<Operator, 'clients'>,
  network: Network & Pick<FinalityRules, 'known'>,
): Promise<MintNode> {
  const pool = clients.pool(network);
  for (let look = 1; look < looks && network.rpcUrls.length > 1; look += 1) {
    await pool.look();
    await wait(pauseMs);
  }
  let pinned = await pool.pin(network);
  for (let others = network.rpcUrls.length - 1; others > 0 && isBehind(pool, pinned); others -= 1) {
    pinned.preferOthers();
    pinned = await pool.pin(network);
  }
  const fault = pinned.disagreement ?? pinned.rolledBack ?? pinned.finalityUnknown?.why;
  if (fault === undefined) return createMintNode(pinned.provider, pinned);
  throw new OperationError(
    `Nothing can be proven on network ${network.chainId}: ${fault} See: tallystick network status`,
  );
}

function isBehind(pool: NodePool, { label }: PinnedNode): boolean {
  const heads = pool
    .status()
    .filter(({ state }) => state === 'usable' || state === 'standing')
    .map(({ head, node }) => ({ node, number: head?.number ?? -1n }));
  const own = heads.find(({ node }) => node === label)?.number ?? -1n;
  return heads.some(({ number }) => number > own + normalBlocks);
}

/** Chooses a node as {@link pinNode} does, which must have the block that was final at the last poll of the lanes. */
export async function pinKnownNode(operator: Operator, network: Network): Promise<MintNode> {
  return pinNode(operator, { ...network, known: await findFinalBlock(operator.db, network.chainId) });
}

/**
 * A node of a network that is none of its own, for a proof that needs what theirs do not have. It must have the block
 * that they agree is final.
 * @throws OperationError when it is another chain, or another fork of it
 */
export async function pinOther(operator: Operator, network: Network, url: string): Promise<MintNode> {
  const own = await pinKnownNode(operator, network);
  const { finalized } = own;
  const agreed = finalized < 0n ? null : await own.block(finalized);
  const pinned = await operator.clients.pool({ ...network, rpcUrls: [url] }).pin(network);
  const other = createMintNode(pinned.provider, { ...pinned, finalized });
  if (agreed === null || (await other.block(finalized))?.hash === agreed.hash) return other;
  throw new OperationError(`The node does not have block ${finalized} as the nodes of the network have it.`);
}
