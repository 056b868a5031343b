import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';

/** A process that behaves badly; nobody waits for what it asks. */
export type Stranger<Figures> = {
  /** Ends it: its connections are gone without a word. @returns what it has seen */
  leave(): Promise<Figures>;
};

/**
 * Starts a program that takes a task as its first message, answers the second with figures, and ends when it is
 * disconnected.
 */
export function startStranger<Figures>(program: string, task: object): Stranger<Figures> {
  const asking = fork(program, { detached: true });
  // Strangers have machines of their own: here they take of the cores what nobody else wants.
  if (asking.pid !== undefined) setPriority(asking.pid, constants.priority.PRIORITY_LOW);
  asking.send(task);
  return {
    async leave() {
      const told = once(asking, 'message');
      asking.send('tell');
      const [figures] = await told;
      const ended = once(asking, 'exit');
      asking.disconnect();
      await ended;
      return figures;
    },
  };
}

/** The child's side of it. @param begin does the task. @returns what tells the figures */
export function beStranger<Task, Figures extends object>(begin: (task: Task) => () => Figures): void {
  process.once('message', (task: Task) => {
    const tell = begin(task);
    process.on('message', () => process.send?.(tell()));
  });
  process.on('disconnect', () => process.exit(0));
}
