import { wallet as hostedWallet } from '../../../../test/support/moralis-payloads.ts';
import { commonDetails } from '../../../load/answers.ts';
import { createCaller, type Wanted } from '../../../load/caller.ts';
import type { Replica } from '../../../load/replica.ts';
import { startLoad } from '../../../load/steady-load.ts';
import type { Fault, Stage } from '../fault.ts';

const restarts = 10;
const slowPerSecond = 4;
const slowMs = 2_500;
/** Less than a slow request takes, so that requests outlast it. */
const drainSeconds = '2';

/** Pages that the upstream takes long for, and events whose second half takes long to come. @returns what ends them */
function startSlowLoad({ service, world: { acme } }: Stage) {
  const { name: company, otherKey: key } = acme;
  const caller = createCaller({ port: service.port, company, key, address: '127.0.3.2' });
  const page = `/blockchain/v1/api/wallet/history?chainId=1&address=${hostedWallet}`;
  let turn = 0;
  const next = (): Wanted => {
    turn += 1;
    if (turn % 2 === 0)
      return { kind: 'slow page', method: 'GET', path: `${page}&limit=${1 + (turn % 100)}` };
    const body = { name: 'Autumn fair', location: 'Long barn, Ely' };
    const path = '/events/v1/api/event';
    return { kind: 'slow event', method: 'POST', path, body, halfAfterMs: slowMs };
  };
  const load = startLoad({ callers: [caller], next, perSecond: slowPerSecond });
  return async () => {
    await load.stop();
    caller.close();
    return load.answers;
  };
}

export const rollingRestart: Fault = {
  name: 'rolling restart',
  about: `${restarts} of two replicas in turn, by SIGTERM, with slow requests under way`,
  seconds: 0,
  servesAll: true,
  change: () => ({ settings: { DRAIN_SECONDS: drainSeconds } }),
  async begin(stage) {
    const { around, service } = stage;
    around.upstream.meet({ afterMs: slowMs });
    const endSlow = startSlowLoad(stage);
    const old: Replica[] = [];
    for (let index = 0; index < restarts; index += 1)
      old.push(await service.restart(service.apis()[index % 2]?.name ?? ''));
    return async () => {
      const slow = await endSlow();
      around.upstream.forget();
      const unserved = slow.filter((answer) => answer.class !== 'ok').length;
      const failed = old.flatMap((replica) => (replica.ended() === 'exit status 0' ? [] : [replica.ended()]));
      const unhandled = old.flatMap((replica) => replica.unhandled());
      return {
        acted: old.length === restarts && slow.length > restarts,
        note: `${slow.length} slow requests next to it`,
        violations: [
          ...(unserved > 0 ? [`${unserved} of ${slow.length} slow requests not served`] : []),
          ...commonDetails(slow, 3),
          ...(failed.length > 0 ? [`ended by ${failed.join(', ')}`] : []),
          ...unhandled.slice(0, 1).map((line) => `unhandled: ${line.slice(0, 160)}`),
        ],
      };
    };
  },
};
