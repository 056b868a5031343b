import { type Answer, commonDetails } from '../../../load/answers.ts';
import { createCaller, type Wanted } from '../../../load/caller.ts';
import type { Replica } from '../../../load/replica.ts';
import { type SteadyLoad, startLoad } from '../../../load/steady-load.ts';
import { hostedWallet } from '../../../load/world.ts';
import type { Fault, Stage } from '../fault.ts';
import { deadlineMs } from '../usual-load.ts';

const restarts = 10;
// As many as are under way all the time with what each takes.
const slowPerSecond = 4;
const slowMs = 2_500;
/** Less than what is slow takes, so that requests outlast it. */
const drainSeconds = '2';

/** Pages that the upstream takes long for, and events whose second half takes long to come. */
function startSlowLoad({ service, around }: Stage): SteadyLoad & { readonly close: () => void } {
  const { name, otherKey } = around.world.acme;
  const caller = createCaller({
    ...{ port: service.port, company: name, key: otherKey, deadlineMs },
    address: '127.0.3.2',
  });
  let turn = 0;
  const page = `/blockchain/v1/api/wallet/history?chainId=1&address=${hostedWallet}`;
  const next = (): Wanted => {
    turn += 1;
    return turn % 2 === 0
      ? { kind: 'slow page', method: 'GET', path: `${page}&limit=${1 + (turn % 100)}` }
      : {
          ...{ kind: 'slow event', method: 'POST', path: '/events/v1/api/event', halfAfterMs: slowMs },
          body: { name: 'Autumn fair', location: 'Long barn, Ely' },
        };
  };
  return { ...startLoad({ callers: [caller], next, perSecond: slowPerSecond }), close: caller.close };
}

async function restartInTurn({ service }: Stage): Promise<Replica[]> {
  const old: Replica[] = [];
  for (let index = 0; index < restarts; index += 1) {
    old.push(await service.renew(service.apis()[index % 2]?.name ?? ''));
  }
  return old;
}

function violationsOf(old: readonly Replica[], slow: readonly Answer[]): string[] {
  const unserved = slow.filter((answer) => answer.class !== 'ok');
  const unhandled = old.flatMap((replica) => replica.unhandled());
  const failed = old.flatMap((replica) => (replica.ended() === 'exit status 0' ? [] : [replica.ended()]));
  return [
    ...(unserved.length > 0 ? [`${unserved.length} of ${slow.length} slow requests not served`] : []),
    ...commonDetails(slow, 3),
    ...(failed.length > 0 ? [`ended by ${failed.join(', ')}`] : []),
    ...unhandled.slice(0, 1).map((line) => `unhandled: ${line.slice(0, 160)}`),
  ];
}

export const rollingRestart: Fault = {
  name: 'rolling restart',
  about: `${restarts} of two replicas in turn, by SIGTERM, with slow requests under way`,
  seconds: 0,
  servesAll: true,
  change: () => ({ settings: { DRAIN_SECONDS: drainSeconds } }),
  async begin(stage) {
    stage.around.upstream.meet({ afterMs: slowMs });
    const slow = startSlowLoad(stage);
    const old = await restartInTurn(stage);
    return async () => {
      await slow.stop();
      slow.close();
      stage.around.upstream.forget();
      const acted = new Set(old.map(({ pid }) => pid)).size === restarts && slow.answers.length > restarts;
      const note = `${slow.answers.length} slow requests beside`;
      return { acted, note, violations: violationsOf(old, slow.answers) };
    };
  },
};
