import { constants, setPriority } from 'node:os';
import { startLyingNode } from '../../test/support/lying-node.ts';
import { mendNode, spoilNode, type Wrong } from './node-wrongs.ts';

/* A node in a process of its own: what the service reads of a chain does not pass through the process that measures. */

/** Where the node reads the chain, and then what it is to do. */
export type NodeOrder = { readonly target: string } | { readonly wrong: Wrong } | 'mend';
/** Its address, or how many questions have met what was wrong until it was mended. */
export type NodeAnswer = { readonly url: string } | { readonly met: number };

// Elsewhere it has cores of its own, and takes none from the service.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const answer = (told: NodeAnswer) => process.send?.(told);

process.once('message', async ({ target }: { target: string }) => {
  const node = await startLyingNode(target);
  let met = () => 0;
  process.on('message', async (order: Exclude<NodeOrder, { target: string }>) => {
    if (order !== 'mend') met = await spoilNode(node, target, order.wrong);
    // A node forgets with its lie how many were told.
    const count = met();
    if (order === 'mend') mendNode(node);
    answer({ met: count });
  });
  answer({ url: node.url });
});
process.on('disconnect', () => process.exit(0));
