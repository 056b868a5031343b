import path from 'node:path';
import type { GreedyFigures, GreedyTask } from '../../load/greedy-process.ts';
import { strangerAddress } from '../../load/raw-callers.ts';
import { startStranger } from '../../load/stranger.ts';
import type { Stage } from './fault.ts';

const greedyProgram = path.resolve(import.meta.dirname, '../../load/greedy-process.ts');

/** What is asked; by acme where no key is named. */
export type Greed = Pick<GreedyTask, 'callers' | 'method' | 'path'> &
  Partial<Pick<GreedyTask, 'key' | 'perSecond' | 'body'>>;

/** As many callers as wanted, each of whom asks again as soon as it is answered. @returns what ends them */
export function startGreedy({ service, around }: Stage, greed: Greed): () => Promise<GreedyFigures> {
  const ports = service.apis().map(({ port }) => port);
  const task = { key: around.world.acme.otherKey, ...greed, ports, address: strangerAddress };
  return startStranger<GreedyFigures>(greedyProgram, task satisfies GreedyTask).leave;
}
