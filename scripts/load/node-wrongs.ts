import { type Flaw, of } from '../../test/support/flaws/flaw.ts';
import { pastOf, standsStill } from '../../test/support/flaws/old-heads.ts';
import { askNode, hangs, slow } from '../../test/support/flaws/wrongs.ts';
import type { Lie, LyingNode } from '../../test/support/lying-node.ts';

/** What is wrong with a node: a flaw that all questions meet, and perhaps a lie about some. */
type Spoiling = { readonly flaw: Flaw; readonly lie?: Lie };

const rubbish = of(['eth_getBalance', 'eth_call'], async () => ({ result: '0xzz' }));

/** The ways in which a node can be wrong, each for the node behind it. */
const wrongs = {
  slow: async (): Promise<Spoiling> => ({ flaw: slow(4_000) }),
  absent: async (): Promise<Spoiling> => ({ flaw: async () => 'drop' }),
  silent: async (): Promise<Spoiling> => ({ flaw: hangs() }),
  lies: async (): Promise<Spoiling> => ({ flaw: rubbish, lie: 'other chain' }),
  stalled: async (target: string): Promise<Spoiling> => {
    const call = async <T>(method: string, ...params: unknown[]) =>
      (await askNode(target, { method, params })).result as T; // a real node's own
    return { flaw: standsStill(await pastOf(call)) };
  },
};

export type Wrong = keyof typeof wrongs;

/**
 * Makes a node wrong.
 * @returns how many questions were lied to, or have met the flaw where there is no lie
 */
export async function spoilNode(node: LyingNode, target: string, wrong: Wrong): Promise<() => number> {
  const { flaw, lie } = await wrongs[wrong](target);
  let met = 0;
  node.setFlaws((call, pass) => {
    met += 1;
    return flaw(call, pass);
  });
  node.lie(lie);
  return lie === undefined ? () => met : node.told;
}

export function mendNode(node: LyingNode): void {
  node.lie(undefined);
  node.setFlaws();
}
