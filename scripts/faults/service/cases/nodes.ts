import { type Flaw, of } from '../../../../test/support/flaws/flaw.ts';
import { pastOf, standsStill } from '../../../../test/support/flaws/old-heads.ts';
import { hangs, slow } from '../../../../test/support/flaws/wrongs.ts';
import type { Lie, LyingNode } from '../../../../test/support/lying-node.ts';
import type { Fault, Stage } from '../fault.ts';

/** What is wrong with a node: a flaw that all questions meet, and perhaps a lie about some. */
type Wrong = { readonly flaw: Flaw; readonly lie?: Lie };
type Spoil = (index: number, stage: Stage) => Promise<Wrong> | Wrong | undefined;

const spoiled = (name: string, about: string, spoil: Spoil): Fault => ({
  ...{ name, about, seconds: 15 },
  async begin(stage) {
    const { nodes } = stage.around;
    const wrongs = await Promise.all(nodes.map((_node, index) => spoil(index, stage)));
    const met = nodes.flatMap((node, index) => {
      const wrong = wrongs[index];
      return wrong === undefined ? [] : [countMet(node, wrong)];
    });
    return async () => {
      const acted = met.every((count) => count() > 0);
      for (const node of nodes) {
        node.lie(undefined);
        node.setFlaws();
      }
      return { acted };
    };
  },
});

/** Makes a node wrong. @returns how many questions were lied to, or have met the flaw where there is no lie */
function countMet(node: LyingNode, { flaw, lie }: Wrong): () => number {
  let met = 0;
  node.setFlaws((call, pass) => {
    met += 1;
    return flaw(call, pass);
  });
  node.lie(lie);
  return lie === undefined ? () => met : node.told;
}

const rubbish = of(['eth_getBalance', 'eth_call'], async () => ({ result: '0xzz' }));

export const nodeFaults: readonly Fault[] = [
  spoiled('nodes slow', 'each answer takes 4 s', () => ({ flaw: slow(4_000) })),
  spoiled('nodes absent', 'both close every connection', () => ({ flaw: async () => 'drop' })),
  spoiled('nodes silent', 'both take every request and never answer', () => ({ flaw: hangs() })),
  spoiled('a node lies', 'one of two shows mints of another chain and rubbish as balances', (index) =>
    index > 0 ? undefined : { flaw: rubbish, lie: 'other chain' },
  ),
  spoiled('nodes stalled', 'the heads of both stand still', async (_index, { around }) => {
    const call = <T>(method: string, ...params: unknown[]) =>
      around.chain.rpc.call(method, ...params) as Promise<T>; // of the local chain
    return { flaw: standsStill(await pastOf(call)) };
  }),
];
