import { requestText, startRawCallers } from '../../../load/raw-callers.ts';
import { type Aftermath, besideSeconds, type Fault, type Stage } from '../fault.ts';
import { type Greed, startGreedy } from '../greedy.ts';

// The largest page that needs no key.
const largePage = '/docs/rwa';
const portsOf = ({ service }: Stage) => service.apis().map(({ port }) => port);

/** As many as one connection may; of large pages more than the kernel keeps on both sides. */
const pipelined = 8;

const callersAtOnce = 300;
const common = { neighbour: 'globex', connections: callersAtOnce / 2 } as const;
const lookMs = 250;

/** What of the attack is held at its end, when the limits have long been passed. */
const stillHeld = (count: number, words: string): Aftermath => ({
  acted: false,
  note: `${count} of ${callersAtOnce} ${words}`,
  violations: count > 0 ? [`${count} of ${callersAtOnce} ${words}`] : [],
});

const slowReaders: Fault = {
  name: 'slow readers',
  about: `${callersAtOnce} callers ask for large pages and do not read`,
  // Their last answer comes after 40 s. The process closes idle connections 65 s later, for which the kernel still has pages.
  seconds: 120,
  ...common,
  async begin(stage) {
    const text = requestText(largePage).repeat(pipelined);
    const callers = startRawCallers({
      ...{ ports: portsOf(stage), text, reads: false },
      connections: callersAtOnce,
    });
    let most = 0;
    const looking = setInterval(() => {
      most = Math.max(most, callers.blocked());
    }, lookMs);
    return async () => {
      clearInterval(looking);
      const held = stillHeld(callers.blocked(), 'still held with what they do not take');
      await callers.leave();
      return { ...held, acted: most > 0, note: `${held.note}, of ${most} at most` };
    };
  },
};

const slowSenders: Fault = {
  name: 'slow senders',
  about: `${callersAtOnce} callers never end their request`,
  seconds: besideSeconds,
  ...common,
  async begin(stage) {
    const text = requestText(largePage).slice(0, -2);
    const callers = startRawCallers({
      ...{ ports: portsOf(stage), text, reads: true },
      connections: callersAtOnce,
    });
    return async () => {
      const held = stillHeld(callers.open(), 'still open');
      const { connected } = await callers.leave();
      return { ...held, acted: connected === callersAtOnce };
    };
  },
};

const abandonedPipelines: Fault = {
  name: 'abandoned pipelines',
  about: `10 callers at a time send ${pipelined} requests at once and leave`,
  seconds: besideSeconds,
  neighbour: 'globex',
  async begin(stage) {
    const text = requestText(largePage).repeat(pipelined);
    const callers = startRawCallers({
      ...{ ports: portsOf(stage), connections: 10, text, reads: false },
      stayMs: 500,
    });
    return async () => {
      const { connected } = await callers.leave();
      return { acted: connected >= 100, note: `${connected} connections` };
    };
  },
};

// So many connections that the pace at which refusals are told does not make few requests of the flood.
const floodCallers = 1_200;
const floodPerSecond = 4_000;
/** Less is none: what the machine is too busy to send does not flood. */
const leastPerSecond = 400;

type Flood = {
  readonly name: string;
  readonly about: string;
  /** Of acme without one. */
  readonly greed: Partial<Greed>;
  readonly isKeyed: boolean;
  readonly isLetIn: boolean;
};

/** A flood from one address, beside the load. */
const flood = ({ name, about, greed, isKeyed, isLetIn }: Flood): Fault => ({
  ...{ name, about, seconds: besideSeconds, neighbour: 'globex', connections: floodCallers },
  async begin(stage) {
    const path = '/events/v1/api/event?limit=20';
    const rate = { callers: floodCallers, perSecond: floodPerSecond };
    const stop = startGreedy(stage, { method: 'GET', path, ...rate, ...greed });
    return async () => {
      const { seconds, asked, by } = await stop();
      const perSecond = Math.round(asked / seconds);
      const words = Object.entries(by).map(([outcome, count]) => `${count} ${outcome}`);
      const served = by['200'] ?? 0;
      return {
        acted: perSecond >= leastPerSecond,
        note: `${perSecond} requests a second: ${words.join(', ')}`,
        violations: [
          ...(isKeyed && !by['429'] ? ['none of the flood is refused by 429'] : []),
          ...(!isLetIn && served > 0 ? [`${served} strangers let in`] : []),
        ],
      };
    };
  },
});

const about = 'thousands of requests a second';

export const callerFaults: readonly Fault[] = [
  slowReaders,
  slowSenders,
  abandonedPipelines,
  flood({ name: 'flood without keys', about, greed: { key: undefined }, isKeyed: false, isLetIn: false }),
  flood({
    ...{ name: 'flood for pages', about: `${about} for one`, isKeyed: false, isLetIn: true },
    greed: { key: undefined, path: '/claim/3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11' },
  }),
  flood({
    ...{
      name: 'flood for the health',
      about: 'thousands of questions for it a second',
      isKeyed: false,
      isLetIn: true,
    },
    greed: { key: undefined, path: '/healthz' },
  }),
  flood({
    ...{ name: 'flood with invented keys', about, isKeyed: true, isLetIn: false },
    greed: { key: 'invented' },
  }),
  flood({
    ...{ name: 'flood with wrong claims', about, isKeyed: true, isLetIn: false },
    greed: {
      key: undefined,
      method: 'POST',
      path: '/claim/v1/api/claims/3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11/state',
      body: '{"secret":"wrong"}',
    },
  }),
  flood({
    ...{ name: 'flood with a key', about: `${about} of one company`, isKeyed: true, isLetIn: true },
    greed: {},
  }),
];
