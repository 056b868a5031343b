import { of } from '../../../../test/support/flaws/flaw.ts';
import { pastOf, standsStill } from '../../../../test/support/flaws/old-heads.ts';
import { hangs, slow } from '../../../../test/support/flaws/wrongs.ts';
import type { LyingNode } from '../../../../test/support/lying-node.ts';
import type { Fault, Stage } from '../fault.ts';

type Spoil = (node: LyingNode, index: number, stage: Stage) => unknown;

const spoiled = (name: string, about: string, spoil: Spoil): Fault => ({
  ...{ name, about, seconds: 15 },
  async begin(stage) {
    const { nodes } = stage.around;
    await Promise.all(nodes.map((node, index) => spoil(node, index, stage)));
    return async () => {
      for (const node of nodes) {
        node.lie(undefined);
        node.setFlaws();
      }
      return {};
    };
  },
});

const rubbish = of(['eth_getBalance', 'eth_call'], async () => ({ result: '0xzz' }));

export const nodeFaults: readonly Fault[] = [
  spoiled('nodes slow', 'each answer takes 4 s', (node) => node.setFlaws(slow(4_000))),
  spoiled('nodes absent', 'both close every connection', (node) => node.setFlaws(async () => 'drop')),
  spoiled('nodes silent', 'both take every request and never answer', (node) => node.setFlaws(hangs())),
  spoiled('a node lies', 'one of two shows mints of another chain and rubbish as balances', (node, index) => {
    if (index > 0) return;
    node.lie('other chain');
    node.setFlaws(rubbish);
  }),
  spoiled('nodes stalled', 'the heads of both stand still', async (node, _index, { around }) => {
    const call = <T>(method: string, ...params: unknown[]) =>
      around.chain.rpc.call(method, ...params) as Promise<T>; // of the local chain
    node.setFlaws(standsStill(await pastOf(call)));
  }),
];
