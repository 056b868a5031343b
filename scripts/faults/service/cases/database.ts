import type { Aftermath, Fault, Stage } from '../fault.ts';
import { answersSoon } from './answers-soon.ts';

async function frozenOrKilled({ around }: Stage, end: () => Promise<void>) {
  const acted = !(await answersSoon(around.postgres().url));
  return async () => {
    await end();
    return { acted };
  };
}

const noRoom = 'No space left on device';

/** Without room for its log the server ends, and its supervisor starts it again. */
async function freeDisk({ around: { disk, postgres } }: Stage, refusals: number): Promise<Aftermath> {
  disk()?.free();
  const acted = postgres().logged(noRoom) > refusals;
  if (postgres().isRunning()) return { acted };
  await postgres().start();
  return { acted, note: 'PostgreSQL ended by itself' };
}

export const databaseFaults: readonly Fault[] = [
  {
    name: 'PostgreSQL killed',
    about: 'all its processes at once, started again after 5 s',
    seconds: 5,
    async begin(stage) {
      await stage.around.postgres().kill();
      return frozenOrKilled(stage, () => stage.around.postgres().start());
    },
  },
  {
    name: 'PostgreSQL frozen',
    about: 'all its processes stopped, connections stay',
    seconds: 20,
    async begin(stage) {
      await stage.around.postgres().freeze();
      return frozenOrKilled(stage, () => stage.around.postgres().thaw());
    },
  },
  {
    name: 'connections black-holed',
    about: 'established ones lose every packet, new ones work',
    // A statement waits as long as the server would let it run, 30 s, and some more.
    seconds: 40,
    recoveryMs: 40_000,
    isLasting: true,
    async begin({ around: { wire } }) {
      const before = wire.withheld();
      wire.lose();
      return async () => ({ acted: wire.withheld() > before });
    },
  },
  {
    name: 'disk full',
    about: 'no room for another page',
    seconds: 15,
    missing: ({ around }) => (around.disk() ? undefined : 'a small disk takes root and a loop device'),
    async begin(stage) {
      const refusals = stage.around.postgres().logged(noRoom);
      stage.around.disk()?.fill();
      return () => freeDisk(stage, refusals);
    },
  },
];
