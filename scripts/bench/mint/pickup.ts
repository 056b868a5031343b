import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../../load/answers.ts';
import { openConnection } from '../http/connection.ts';
import { startUnpinned } from '../start-service.ts';
import type { BenchChain } from './bench-chain.ts';
import type { BenchSetup } from './bench-setup.ts';
import { toRequest } from './post-all.ts';

export type Pickup = {
  readonly mints: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

type Options = {
  readonly setup: BenchSetup;
  readonly chain: BenchChain;
  readonly signing: Readonly<Record<string, string>>;
  readonly mints: number;
};

/**
 * From the answer to one mint on a service that has nothing else to do, to its transaction at the node. The pause
 * before the next mint is random, so that the moments spread over the time between two blocks.
 */
export async function measurePickup({ setup, chain, signing, mints }: Options): Promise<Pickup> {
  const service = await startUnpinned({ ...setup.settings, ...signing, ROLES: 'api,worker' });
  const arrivals = await watchPending(chain.rpcUrl);
  const connection = await openConnection(service.port);
  const times: number[] = [];
  try {
    for (let index = 0; index < mints + warmUp; index += 1) {
      const arrived = arrivals.next();
      const { status, body } = await connection.send(toRequest(setup.createRequest(index)));
      const answeredAt = performance.now();
      if (status !== 200) throw new Error(`A mint was answered ${status}: ${body}`);
      const time = (await arrived) - answeredAt;
      if (index >= warmUp) times.push(Math.max(0, time));
      await pause(100 + Math.random() * 200);
    }
  } finally {
    connection.close();
    arrivals.close();
    await service.stop();
  }
  const at = (share: number) => Number(quantile(times, share).toFixed(1));
  return { mints, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

const warmUp = 10;

/** Reports when the node takes a transaction. */
async function watchPending(rpcUrl: string) {
  const socket = new WebSocket(rpcUrl.replace('http', 'ws'));
  let waiting: PromiseWithResolvers<number> | undefined;
  const subscribed = Promise.withResolvers<void>();
  socket.addEventListener('error', () => subscribed.reject(new Error('the node took no subscription')));
  socket.addEventListener('open', () =>
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newPendingTransactions"]}'),
  );
  socket.addEventListener('message', ({ data }) => {
    if (String(data).includes('"eth_subscription"')) waiting?.resolve(performance.now());
    else subscribed.resolve();
  });
  await subscribed.promise;
  return {
    next() {
      waiting = Promise.withResolvers<number>();
      return waiting.promise;
    },
    close: () => socket.close(),
  };
}
