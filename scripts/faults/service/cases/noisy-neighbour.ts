import { setTimeout as pause } from 'node:timers/promises';
import { requestText, startNoise } from '../../../load/noise.ts';
import type { GreedyTask, NoiseFigures, RawTask } from '../../../load/noise-process.ts';
import type { Fault, Part, Stage } from '../fault.ts';
import { withManyEvents } from './many-events.ts';

/** What a company or strangers do for a while. */
type Noise = {
  readonly name: string;
  /** Other than half a minute. The slowest of 100 answers are some then, and not one that met what came at once. */
  readonly seconds?: number;
  readonly task: (stage: Stage) => RawTask | GreedyTask;
  /**
   * Begins further work next to it.
   * @returns a function that ends the work
   */
  readonly begin?: (stage: Stage) => Promise<() => Promise<void>>;
  /** The faults that they have seen, in words. */
  readonly judge?: (figures: NoiseFigures) => readonly (string | false)[];
  /** Whether it happened at all. */
  readonly acted: (figures: NoiseFigures) => boolean;
};

const events = '/events/v1/api/event';
// The largest page that needs no key.
const largePage = '/docs/rwa';
const claim = '/claim/v1/api/claims/3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11/state';

// So many connections that the pace at which strangers are rejected does not make few requests of the flood.
const floodRate = { callers: 1_200, perSecond: 4_000 };
/** Less is none: what the machine is too busy to send does not flood. */
const leastPerSecond = 400;
const slowSenders = 300;
/** As many as one connection may. */
const pipelined = 8;

type Flood = { readonly key: string | undefined; readonly path?: string; readonly body?: string };
type FloodRules = { readonly isLimited: boolean; readonly letsIn: boolean };

const flood = (name: string, greed: (stage: Stage) => Flood, { isLimited, letsIn }: FloodRules): Noise => ({
  name: `flood ${name}`,
  task: (stage) => ({ path: `${events}?limit=20`, ...greed(stage), ...floodRate }),
  judge: ({ by }) => [
    isLimited && !by['429'] && 'none of the flood is answered by 429',
    !letsIn && (by['200'] ?? 0) > 0 && 'strangers let in',
  ],
  acted: ({ asked, seconds }) => asked / seconds >= leastPerSecond,
});

/** Greedy callers of acme, whose answers come in the end. */
const asked = ({ asked: count, by }: NoiseFigures) => count >= 20 && (by['lost'] ?? 0) < count;

const noises: readonly Noise[] = [
  flood('without keys', () => ({ key: undefined }), { isLimited: false, letsIn: false }),
  flood('with invented keys', () => ({ key: 'invented' }), { isLimited: true, letsIn: false }),
  flood('with wrong claims', () => ({ key: undefined, path: claim, body: '{"secret":"wrong"}' }), {
    isLimited: true,
    letsIn: false,
  }),
  flood('with a key', ({ world }) => ({ key: world.acme.otherKey }), { isLimited: true, letsIn: true }),
  {
    name: '12 unread lists of 150 MB',
    task: ({ world }) => ({ connections: 12, text: requestText(events, world.acme.otherKey), reads: false }),
    acted: ({ connected }) => connected === 12,
  },
  {
    name: '40 deep offsets',
    task: ({ world }) => ({
      callers: 40,
      path: `${events}?limit=200&offset=90000`,
      key: world.acme.otherKey,
    }),
    acted: asked,
  },
  {
    name: '20 requests on a locked row',
    task: ({ world: { acme } }) => ({
      callers: 20,
      path: `/v1/api/rwa/${acme.rwas[0]}/mint`,
      body: '{}',
      key: acme.otherKey,
    }),
    async begin({ around, world: { acme } }) {
      const db = around.openDatabase();
      const tx = await db.transaction();
      await tx.raw('SELECT FROM rwas WHERE id = ? FOR UPDATE', [acme.rwas[0] ?? '']);
      return async () => {
        await tx.rollback();
        await db.destroy();
      };
    },
    acted: asked,
  },
  {
    name: '300 slow senders',
    seconds: 40,
    task: () => ({ connections: slowSenders, text: requestText(largePage).slice(0, -2), reads: true }),
    judge: ({ open }) => [open > 0 && `${open} of ${slowSenders} slow senders still open`],
    acted: ({ connected }) => connected === slowSenders,
  },
  {
    name: 'abandoned pipelines',
    task: () => ({
      connections: 10,
      text: requestText(largePage).repeat(pipelined),
      reads: false,
      stayMs: 500,
    }),
    acted: ({ connected }) => connected >= 100,
  },
];

const usualSeconds = 30;

async function makeNoise(stage: Stage, noise: Noise): Promise<{ part: Part; violations: string[] }> {
  const from = performance.now();
  const end = await noise.begin?.(stage);
  const leave = startNoise(stage.service.apis(), noise.task(stage));
  await pause((noise.seconds ?? usualSeconds) * 1_000);
  const to = performance.now();
  await end?.();
  const figures = await leave();
  const found = [!noise.acted(figures) && `did not happen: ${JSON.stringify(figures)}`];
  const wrong = [...found, ...(noise.judge?.(figures) ?? [])].filter((words) => words !== false);
  return {
    part: { name: noise.name, from, to },
    violations: wrong.map((words) => `${noise.name}: ${words}`),
  };
}

/** The noise of strangers and of one company, while the other company is the neighbour. */
export const noisyNeighbour: Fault = {
  name: 'noisy neighbour',
  about: noises.map(({ name }) => name).join(', '),
  seconds: 0,
  neighbour: 'globex',
  connections: floodRate.callers,
  prepare: withManyEvents,
  async begin(stage) {
    const made: Awaited<ReturnType<typeof makeNoise>>[] = [];
    for (const noise of noises) made.push(await makeNoise(stage, noise));
    return async () => ({
      acted: true,
      parts: made.map(({ part }) => part),
      violations: made.flatMap(({ violations }) => violations),
    });
  },
};
