import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../../../load/answers.ts';
import { createCaller, type Wanted } from '../../../load/caller.ts';
import { type RawCallers, requestText, startRawCallers } from '../../../load/raw-callers.ts';
import { type SteadyLoad, startLoad } from '../../../load/steady-load.ts';
import type { Aftermath, Fault, Stage } from '../fault.ts';
import { startGreedy } from '../greedy.ts';
import { deadlineMs } from '../usual-load.ts';
import { withLongEvents } from './hoards.ts';
import { longQueue } from './long-queue.ts';
import { greedy } from './neighbours.ts';

const groups = 4;
const groupSize = 10;
const stayMs = 4_000;

/** Groups that come one after the other, so that most of them are always there. */
const unreadPages = greedy({
  name: 'unread pages',
  about: `${groups * groupSize} callers of pages of 6 MB who read nothing, again and again`,
  prepare: withLongEvents,
  async begin({ service, around }) {
    const text = requestText('/events/v1/api/event?limit=200', around.world.acme.otherKey).repeat(4);
    const ports = service.apis().map(({ port }) => port);
    const coming: RawCallers[] = [];
    for (let group = 0; group < groups; group += 1) {
      coming.push(startRawCallers({ ports, connections: groupSize, text, reads: false, stayMs }));
      await pause(stayMs / groups);
    }
    return async () => {
      const figures = await Promise.all(coming.map((callers) => callers.leave()));
      const connected = figures.reduce((sum, group) => sum + group.connected, 0);
      return { acted: connected > groups * groupSize, note: `${connected} connections` };
    };
  },
});

const slowMs = 2_000;
/** `RATE_LIMIT_PER_SECOND`, by default. */
const allowedPerSecond = 100;
/** So many ask that the rate is reached even while each waits as long as it may. */
const waiting = allowedPerSecond * 12;
const mostRatio = 5;
const pageOf = (address: string) => `/blockchain/v1/api/wallet/history?chainId=1&address=${address}&limit=10`;

/** The neighbour asks now and then for a page that nobody has asked for before. */
function startNeighbour({ service, around }: Stage): SteadyLoad & { readonly close: () => void } {
  const { name, otherKey } = around.world.globex;
  const caller = createCaller({
    ...{ port: service.port, company: name, key: otherKey, deadlineMs },
    address: '127.0.3.4',
  });
  let turn = 0;
  const next = (): Wanted => {
    turn += 1;
    return { kind: 'hosted page', method: 'GET', path: pageOf(`0x${turn.toString(16).padStart(40, '0')}`) };
  };
  return { ...startLoad({ callers: [caller], next, perSecond: 1 }), close: caller.close };
}

function judgeNeighbour({ answers }: SteadyLoad): Pick<Aftermath, 'note' | 'violations'> {
  const failed = answers.filter((answer) => answer.class !== 'ok').length;
  const times = answers.map(({ ms }) => ms);
  const slowest = quantile(times, 1);
  return {
    note: `hosted pages of the neighbour ${(quantile(times, 0.5) / 1_000).toFixed(1)} to ${(slowest / 1_000).toFixed(1)} s`,
    violations: [
      ...(failed > 0 ? [`${failed} of ${answers.length} hosted pages of the neighbour not served`] : []),
      ...(slowest >= mostRatio * slowMs ? ['the neighbour waits for others of the upstream'] : []),
    ],
  };
}

/** Slow before, too: what is judged is the other company, not the upstream. */
const slowUpstream: Fault = {
  ...greedy({
    name: 'slow upstream',
    about: `which takes 2 s, while another company asks for ${allowedPerSecond} hosted pages a second`,
    async prepare(_db, { around }) {
      around.upstream.forget();
      around.upstream.meet({ afterMs: slowMs });
      return async () => around.upstream.forget();
    },
    async begin(stage) {
      const greed = { callers: waiting, perSecond: allowedPerSecond, path: pageOf('{address}') };
      const stop = startGreedy(stage, { method: 'GET', ...greed });
      const neighbour = startNeighbour(stage);
      return async () => {
        const { asked } = await stop();
        await neighbour.stop();
        neighbour.close();
        return { acted: asked >= allowedPerSecond, ...judgeNeighbour(neighbour) };
      };
    },
  }),
  connections: waiting / 2,
};

/** One company that takes what all share. */
export const hogFaults: readonly Fault[] = [unreadPages, slowUpstream, longQueue];
