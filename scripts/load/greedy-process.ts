import { randomBytes } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { generateKey } from '../../src/keys/key-format.ts';
import { beStranger } from './stranger.ts';

/* Asks for much. */

export type GreedyTask = {
  /** Callers take turns with them. */
  readonly ports: readonly number[];
  /** Without one nobody says who he is; `invented` is a new one for each request. */
  readonly key: string | 'invented' | undefined;
  /** The address of all callers. */
  readonly address: string;
  readonly callers: number;
  readonly method: 'GET' | 'POST';
  /** What is posted, as JSON; `{}` by default. */
  readonly body?: string;
  /** `{address}` in it is another wallet each time. */
  readonly path: string;
  /** Requests a second of all callers together, at most; as fast as they are answered without it. */
  readonly perSecond?: number;
};

export type GreedyFigures = {
  readonly seconds: number;
  readonly asked: number;
  /** Answers by their status; `lost` without one. */
  readonly by: Readonly<Record<string, number>>;
};

// A caller who is not answered at all must not ask without end.
const afterFailureMs = 100;

const begun = performance.now();
const counts = { asked: 0, by: {} as Record<string, number> };

function note(outcome: number | 'lost'): void {
  counts.by[outcome] = (counts.by[outcome] ?? 0) + 1;
}

function run({ ports, key, address, callers, method, body = '{}', path, perSecond }: GreedyTask): void {
  const agent = new Agent({ keepAlive: true, localAddress: address });
  const headersOf = () => ({
    ...(key !== undefined && { 'x-api-key': key === 'invented' ? generateKey('live') : key }),
    ...(method === 'POST' && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }),
  });
  const ask = (port: number) =>
    new Promise<void>((resolve, reject) => {
      const wanted = path.replace('{address}', () => `0x${randomBytes(20).toString('hex')}`);
      const request = send({ agent, port, host: '127.0.0.1', method, path: wanted, headers: headersOf() });
      request.once('error', reject);
      request.once('response', (response) => {
        note(response.statusCode ?? 0);
        response.once('end', resolve).once('error', reject).resume();
      });
      request.end(method === 'POST' ? body : undefined);
    });
  const restMs = perSecond === undefined ? 0 : (callers / perSecond) * 1_000;
  for (let caller = 0; caller < callers; caller += 1) {
    void (async () => {
      for (let turn = caller; ; turn += 1) {
        const at = performance.now();
        counts.asked += 1;
        await ask(ports[turn % ports.length] ?? 0).catch(() => {
          note('lost');
          return pause(afterFailureMs);
        });
        const left = restMs - (performance.now() - at);
        if (left > 0) await pause(left);
      }
    })();
  }
}

beStranger((task: GreedyTask): (() => GreedyFigures) => {
  run(task);
  return () => ({ ...counts, seconds: (performance.now() - begun) / 1_000 });
});
