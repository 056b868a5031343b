import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import { constants, setPriority } from 'node:os';
import { portOf } from '../../src/local/programs/ports.ts';
import { startNode } from '../../test/support/node/node.ts';
import { createBroadcasts } from './broadcasts.ts';
import { mendNode, spoilNode, type Wrong } from './node-wrongs.ts';
import { passOn } from './pass-on.ts';

/* A node in a process of its own: what the service reads of a chain does not pass through the process that measures. */

/** Where the node reads the chain, and then what it is to do. */
export type NodeOrder =
  | { readonly target: string }
  | { readonly wrong: Wrong }
  | { readonly asked: string }
  | 'mend';
/** Its address, how many questions have met what was wrong until it was mended, or whether it took a transaction. */
export type NodeAnswer = { readonly url: string } | { readonly met: number } | { readonly took: boolean };

// Elsewhere it has cores of its own, and takes none from the service.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const answer = (told: NodeAnswer) => process.send?.(told);
const portIn = (url: string) => Number(new URL(url).port);

process.once('message', async ({ target }: { target: string }) => {
  const flawed = await startNode(target);
  const ports = { right: portIn(target), wrong: portIn(flawed.url) };
  let port = ports.right;
  const broadcasts = createBroadcasts();
  process.on('message', async (order: Exclude<NodeOrder, { target: string }>) => {
    if (typeof order === 'object' && 'asked' in order) {
      answer({ took: broadcasts.took(order.asked) });
      return;
    }
    if (order !== 'mend') await spoilNode(flawed, target, order.wrong);
    port = order === 'mend' ? ports.right : ports.wrong;
    answer({ met: order === 'mend' ? mendNode(flawed) : 0 });
  });
  // What is right is not read: that cost more than the chain itself.
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) =>
    passOn(
      { agent, port, headers: request.headers, onAnswer: broadcasts.watch(request) },
      { request, response },
    ),
  );
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  answer({ url: `http://127.0.0.1:${portOf(server)}` });
});
process.on('disconnect', () => process.exit(0));
