import { type Flaw, of } from '../../test/support/node/flaw.ts';
import { lies } from '../../test/support/node/lies.ts';
import { askNode, type TestNode } from '../../test/support/node/node.ts';
import { pastOf, standsStill } from '../../test/support/node/old-heads.ts';
import { hangs, slow } from '../../test/support/node/wrongs.ts';

const rubbish = of(['eth_getBalance', 'eth_call'], () => ({ result: '0xzz' }));

/** The flaws of each way in which a node can be wrong, for the node behind it. */
const wrongs = {
  slow: async (): Promise<Flaw[]> => [slow(4_000)],
  absent: async (): Promise<Flaw[]> => [() => 'drop'],
  silent: async (): Promise<Flaw[]> => [hangs()],
  lies: async (): Promise<Flaw[]> => [lies['other chain'], rubbish],
  stalled: async (target: string): Promise<Flaw[]> => {
    const call = async <T>(method: string, ...params: unknown[]) =>
      (await askNode(target, { method, params })).result as T; // a real node's own
    return [standsStill(await pastOf(call))];
  },
};

export type Wrong = keyof typeof wrongs;

/** Makes a node wrong; it counts from now on the questions that meet its flaws. */
export async function spoilNode(node: TestNode, target: string, wrong: Wrong): Promise<void> {
  const flaws = await wrongs[wrong](target);
  node.forget();
  node.setFlaws(...flaws);
}

/** Makes a node right. @returns how many questions have met its flaws */
export function mendNode(node: TestNode): number {
  const met = node.flawed.length;
  node.setFlaws();
  node.forget();
  return met;
}
