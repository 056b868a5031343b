import { fork } from 'node:child_process';
import { once } from 'node:events';

const patienceMs = 30_000;

/** A program that runs in a process of its own, and answers each order with one message. */
export type OwnProcess<Order, Answer> = {
  /** One order at a time. */
  order<Told extends Answer>(what: Order): Promise<Told>;
  /** The program ends when it is disconnected. */
  close(): Promise<void>;
};

export function startOwnProcess<Order extends object | string, Answer>(
  program: string,
): OwnProcess<Order, Answer> {
  // A session of its own, so that its priority counts beside those of the service.
  const child = fork(program, { detached: true });
  return {
    async order(what) {
      const told = once(child, 'message', { signal: AbortSignal.timeout(patienceMs) });
      child.send(what);
      const [answer] = await told;
      return answer;
    },
    async close() {
      // One that has ended by itself would never say so again.
      if (!child.connected) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
