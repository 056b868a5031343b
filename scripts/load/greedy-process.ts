import { Agent, request as send } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/* Asks for much in a process of its own, so that what it reads takes nothing of the process that measures. */

/** What the process is sent, once; it goes on until it is disconnected. */
export type GreedyTask = {
  /** Callers take turns with them. */
  readonly ports: readonly number[];
  readonly key: string;
  /** The address of all callers. */
  readonly address: string;
  readonly callers: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
};

// A caller who is not answered at all must not ask without end.
const afterFailureMs = 100;

function run({ ports, key, address, callers, method, path }: GreedyTask): void {
  const agent = new Agent({ keepAlive: true, localAddress: address });
  const ask = (port: number) =>
    new Promise<void>((resolve, reject) => {
      const headers = {
        'x-api-key': key,
        ...(method === 'POST' && { 'content-type': 'application/json', 'content-length': 2 }),
      };
      const request = send({ agent, port, host: '127.0.0.1', method, path, headers });
      request.once('error', reject);
      request.once('response', (response) => response.once('end', resolve).once('error', reject).resume());
      request.end(method === 'POST' ? '{}' : undefined);
    });
  for (let caller = 0; caller < callers; caller += 1) {
    void (async () => {
      for (let turn = caller; ; turn += 1) {
        await ask(ports[turn % ports.length] ?? 0).catch(() => pause(afterFailureMs));
      }
    })();
  }
}

process.on('message', run);
process.on('disconnect', () => process.exit(0));
