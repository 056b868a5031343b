import type { Mishap } from '../../../../test/support/moralis-server.ts';
import type { Conduct } from '../../../load/authenticator.ts';
import type { Fault } from '../fault.ts';

const upstream = (name: string, about: string, mishap: Mishap): Fault => ({
  ...{ name: `upstream ${name}`, about, seconds: 10 },
  async begin({ around }) {
    around.upstream.meet(mishap);
    return async () => {
      around.upstream.forget();
      return {};
    };
  },
});

const authentication = (name: string, about: string, begin: Conduct | 'absent'): Fault => ({
  ...{ name: `authentication ${name}`, about, seconds: 10 },
  change: ({ around }) => ({ settings: around.authenticator.settings }),
  async begin({ around: { authenticator } }) {
    if (begin === 'absent') authenticator.gate.refuse();
    else authenticator.behave(begin);
    return async () => {
      authenticator.gate.open();
      authenticator.behave('well');
      return {};
    };
  },
});

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
