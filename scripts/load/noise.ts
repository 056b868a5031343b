import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import type { GreedyTask, NoiseFigures, NoiseTask, RawTask } from './noise-process.ts';
import type { Replica } from './replica.ts';

const program = path.resolve(import.meta.dirname, 'noise-process.ts');

/**
 * Starts callers of these replicas that behave badly.
 * @returns what ends them without a word, with what they have seen
 */
export function startNoise(
  apis: readonly Replica[],
  task: RawTask | GreedyTask,
): () => Promise<NoiseFigures> {
  const noise = fork(program, { detached: true });
  // Elsewhere they have machines of their own: here they take of the cores what nobody else wants.
  if (noise.pid !== undefined) setPriority(noise.pid, constants.priority.PRIORITY_LOW);
  noise.send({ ...task, ports: apis.map(({ port }) => port) } satisfies NoiseTask);
  return async () => {
    const told = once(noise, 'message');
    noise.send('tell');
    const [figures] = await told;
    const ended = once(noise, 'exit');
    noise.disconnect();
    await ended;
    return figures;
  };
}

/** The text of a GET that keeps its connection. */
export function requestText(path: string, key?: string): string {
  const withKey = key === undefined ? '' : `x-api-key: ${key}\r\n`;
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${withKey}\r\n`;
}
