import path from 'node:path';
import type { NodeAnswer, NodeOrder } from './node-process.ts';
import type { Wrong } from './node-wrongs.ts';
import { startOwnProcess } from './own-process.ts';

const program = path.resolve(import.meta.dirname, 'node-process.ts');

/** A node that leads to a real one, and can be wrong. */
export type NodeServer = {
  readonly url: string;
  spoil(wrong: Wrong): Promise<void>;
  /** It is right again. @returns how many questions have met what was wrong */
  mend(): Promise<number>;
  /** Whether it took a transaction when it was broadcast. */
  took(hash: string): Promise<boolean>;
  close(): Promise<void>;
};

/** @param target the URL of the real one */
export async function startNodeServer(target: string): Promise<NodeServer> {
  const node = startOwnProcess<NodeOrder, NodeAnswer>(program);
  const { url } = await node.order<{ url: string }>({ target });
  return {
    url,
    async spoil(wrong) {
      await node.order({ wrong });
    },
    mend: async () => (await node.order<{ met: number }>('mend')).met,
    took: async (asked) => (await node.order<{ took: boolean }>({ asked })).took,
    close: node.close,
  };
}
