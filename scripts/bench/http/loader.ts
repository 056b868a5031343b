import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { killAtExit } from '../../../test/support/kill-at-exit.ts';
import { pinned } from './cores.ts';
import type { LoadFigures, LoadTask } from './load-process.ts';

export type Loader = {
  /** @throws Error for an answer other than the expected one */
  run(task: LoadTask): Promise<LoadFigures>;
  close(): void;
};

const script = path.join(import.meta.dirname, 'load-process.ts');

/** Starts the process that makes load, on the core of the load. */
export function startLoader(): Loader {
  const [program, ...words] = pinned('load', [process.execPath, script]);
  const child: ChildProcess = spawn(program, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  killAtExit(child);
  return {
    async run(task) {
      child.send(task);
      const [answer] = (await once(child, 'message')) as [{ figures?: LoadFigures; error?: string }];
      if (answer.figures === undefined) throw new Error(answer.error);
      return answer.figures;
    },
    close: () => child.disconnect(),
  };
}
