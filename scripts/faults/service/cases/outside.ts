import { generateKey } from '../../../../src/keys/key-format.ts';
import type { Mishap } from '../../../../test/support/moralis-server.ts';
import type { Answer } from '../../../load/answers.ts';
import type { Conduct } from '../../../load/authenticator.ts';
import { createCaller, type Wanted } from '../../../load/caller.ts';
import { type SteadyLoad, startLoad } from '../../../load/steady-load.ts';
import type { Fault, Stage } from '../fault.ts';
import { deadlineMs } from '../usual-load.ts';

const upstream = (name: string, about: string, mishap: Mishap): Fault => ({
  ...{ name: `upstream ${name}`, about, seconds: 10 },
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

const authentication = (name: string, about: string, conduct: Conduct | 'absent'): Fault => ({
  ...{ name: `authentication ${name}`, about, seconds: 10 },
  change: ({ around }) => ({ settings: around.authenticator.settings }),
  async begin(stage) {
    const { authenticator } = stage.around;
    const harm = () => (conduct === 'absent' ? authenticator.gate.withheld() : authenticator.misled());
    const before = harm();
    if (conduct === 'absent') authenticator.gate.refuse();
    else authenticator.behave(conduct);
    const stranger = startStranger(stage);
    return async () => {
      authenticator.gate.open();
      authenticator.behave('well');
      await stranger.stop();
      return { acted: harm() > before, violations: letIn(stranger.answers) };
    };
  },
});

/** Asks with a key that nobody has, a new one each time. */
function startStranger({ service: { port } }: Stage): SteadyLoad {
  const callers = [createCaller({ port, company: 'stranger', key: undefined, address, deadlineMs })];
  const next = (): Wanted => ({
    ...{ kind: 'unknown key', method: 'GET', path: '/v1/api/rwa' },
    headers: { 'x-api-key': generateKey('live') },
  });
  return startLoad({ callers, next, perSecond: 2 });
}

const address = '127.0.3.3';

/** Whoever cannot be known is not let in, whatever is said of the key. */
function letIn(answers: readonly Answer[]): string[] {
  const count = answers.filter((answer) => answer.class === 'ok').length;
  return [
    ...(count > 0 ? [`${count} of ${answers.length} requests with unknown keys let in`] : []),
    ...(answers.length === 0 ? ['nobody asked with an unknown key'] : []),
  ];
}

export const outsideFaults: readonly Fault[] = [
  upstream('slow', 'never answers', 'hang'),
  upstream('absent', 'resets every connection', 'reset'),
  upstream('huge', 'answers 30 MB', 'oversized'),
  upstream('lying', 'answers in another form', { body: { result: [{ hash: 7 }], cursor: {} } }),
  authentication('slow', 'answers after 20 s', 'slow'),
  authentication('absent', 'closes every connection', 'absent'),
  authentication('huge', 'answers 30 MB', 'huge'),
  authentication('lying', 'answers in another form', 'lying'),
];
