import type { Wrong } from '../../../load/node-wrongs.ts';
import type { Fault } from '../fault.ts';

/** @param wrongs of each node; one that is undefined stays right */
const spoiled = (name: string, about: string, wrongs: readonly (Wrong | undefined)[]): Fault => ({
  ...{ name, about, seconds: 15 },
  async begin({ around }) {
    const spoilt = around.nodes.flatMap((node, index) => {
      const wrong = wrongs[index];
      return wrong === undefined ? [] : [{ node, wrong }];
    });
    await Promise.all(spoilt.map(({ node, wrong }) => node.spoil(wrong)));
    return async () => {
      const met = await Promise.all(spoilt.map(({ node }) => node.mend()));
      return { acted: met.every((count) => count > 0) };
    };
  },
});

const both = (wrong: Wrong) => [wrong, wrong];

export const nodeFaults: readonly Fault[] = [
  spoiled('nodes slow', 'each answer takes 4 s', both('slow')),
  spoiled('nodes absent', 'both close every connection', both('absent')),
  spoiled('nodes silent', 'both take every request and never answer', both('silent')),
  spoiled('a node lies', 'one of two shows mints of another chain and rubbish as balances', ['lies']),
  spoiled('nodes stalled', 'the heads of both stand still', both('stalled')),
];
