import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { GreedyFigures, GreedyTask } from '../../load/greedy-process.ts';
import { strangerAddress } from '../../load/raw-callers.ts';
import type { Stage } from './fault.ts';

const greedyProgram = path.resolve(import.meta.dirname, '../../load/greedy-process.ts');

/** What is asked; by acme where no key is named. */
export type Greed = Pick<GreedyTask, 'callers' | 'method' | 'path'> &
  Partial<Pick<GreedyTask, 'key' | 'perSecond'>>;

/** As many callers as wanted, each of whom asks again as soon as it is answered. @returns what ends them */
export function startGreedy({ service, around }: Stage, greed: Greed): () => Promise<GreedyFigures> {
  const asking = fork(greedyProgram);
  const ports = service.apis().map(({ port }) => port);
  const key = around.world.acme.otherKey;
  asking.send({ key, ...greed, ports, address: strangerAddress } satisfies GreedyTask);
  return async () => {
    const told = once(asking, 'message');
    asking.send('tell');
    const [figures] = await told;
    const ended = once(asking, 'exit');
    // Whoever waits for an answer goes without it.
    asking.disconnect();
    await ended;
    return figures;
  };
}
