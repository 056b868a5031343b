import { generateKey } from '../../../../src/keys/key-format.ts';
import type { Mishap } from '../../../../test/support/moralis-server.ts';
import { type Flaw, of } from '../../../../test/support/node/flaw.ts';
import { lies } from '../../../../test/support/node/lies.ts';
import { hangs } from '../../../../test/support/node/wrongs.ts';
import type { Conduct } from '../../../load/authenticator.ts';
import { createCaller } from '../../../load/caller.ts';
import { startLoad } from '../../../load/steady-load.ts';
import type { Fault, Stage } from '../fault.ts';

/** @param count how many of the two nodes are wrong */
const nodes = (name: string, about: string, count: number, ...flaws: readonly Flaw[]): Fault => ({
  name,
  about,
  seconds: 15,
  async begin({ around }) {
    const spoilt = around.nodes.slice(0, count);
    for (const node of spoilt) {
      node.forget();
      node.setFlaws(...flaws);
    }
    return async () => {
      const acted = spoilt.every((node) => node.flawed.length > 0);
      for (const node of spoilt) node.setFlaws();
      return { acted };
    };
  },
});

const rubbish = of(['eth_getBalance', 'eth_call'], () => ({ result: '0xzz' }));

const upstream = (name: string, about: string, mishap: Mishap): Fault => ({
  name: `upstream ${name}`,
  about,
  seconds: 10,
  async begin({ around }) {
    around.upstream.forget();
    around.upstream.meet(mishap);
    return async () => {
      const acted = around.upstream.asked.length > 0;
      around.upstream.forget();
      return { acted };
    };
  },
});

const authentication = (conduct: Exclude<Conduct, 'well'>, about: string): Fault => ({
  name: `authentication ${conduct}`,
  about,
  // Twice as long as keys are cached.
  seconds: 20,
  change: ({ around }) => ({ settings: around.authenticator.settings }),
  async begin(stage) {
    const { authenticator } = stage.around;
    const before = authenticator.misled();
    authenticator.behave(conduct);
    const endStrangers = startStrangers(stage);
    return async () => {
      const acted = authenticator.misled() > before;
      authenticator.behave('well');
      return { acted, violations: await endStrangers() };
    };
  },
});

/**
 * Asks with keys that nobody has, a new key each time: a caller whose key cannot be checked is not let in.
 * @returns a function that ends it, and that returns the faults in words
 */
function startStrangers({ service: { port } }: Stage): () => Promise<string[]> {
  const caller = createCaller({ port, company: 'stranger', key: undefined, address: '127.0.3.3' });
  const asked = { kind: 'unknown key', method: 'GET', path: '/v1/api/rwa' } as const;
  const next = () => ({ ...asked, headers: { 'x-api-key': generateKey('live') } });
  const load = startLoad({ callers: [caller], next, perSecond: 2 });
  return async () => {
    await load.stop();
    caller.close();
    const letIn = load.answers.filter((answer) => answer.class === 'ok').length;
    return [
      ...(letIn > 0 ? [`${letIn} of ${load.answers.length} requests with unknown keys let in`] : []),
      ...(load.answers.length === 0 ? ['nobody asked with an unknown key'] : []),
    ];
  };
}

/** The callees of the service: nodes, the upstream, and the service that knows keys. */
export const outsideFaults: readonly Fault[] = [
  nodes('nodes absent', 'both close every connection', 2, () => 'drop'),
  nodes('nodes silent', 'both take every request and never answer', 2, hangs()),
  nodes(
    'a node lies',
    'one of two shows mints of another chain and rubbish as balances',
    1,
    lies['other chain'],
    rubbish,
  ),
  upstream('slow', 'never answers', 'hang'),
  upstream('absent', 'resets every connection', 'reset'),
  authentication('slow', 'answers after 20 s'),
  authentication('absent', 'closes every connection'),
  authentication('lying', 'answers in another form'),
];
