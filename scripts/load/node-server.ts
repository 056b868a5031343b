import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { NodeAnswer, NodeOrder } from './node-process.ts';
import type { Wrong } from './node-wrongs.ts';

const program = path.resolve(import.meta.dirname, 'node-process.ts');
const patienceMs = 30_000;

/** A node that leads to a real one, and can be wrong. */
export type NodeServer = {
  readonly url: string;
  spoil(wrong: Wrong): Promise<void>;
  /** It is right again. @returns how many questions have met what was wrong */
  mend(): Promise<number>;
  close(): Promise<void>;
};

/** @param target the URL of the real one */
export async function startNodeServer(target: string): Promise<NodeServer> {
  const child = fork(program);
  const { url } = await order<{ url: string }>(child, { target });
  return {
    url,
    async spoil(wrong) {
      await order(child, { wrong });
    },
    mend: async () => (await order<{ met: number }>(child, 'mend')).met,
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

async function order<Told extends NodeAnswer>(child: ChildProcess, what: NodeOrder): Promise<Told> {
  const told = once(child, 'message', { signal: AbortSignal.timeout(patienceMs) });
  child.send(what);
  const [answer] = await told;
  return answer;
}
