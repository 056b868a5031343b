import { constants, setPriority } from 'node:os';
import { startGate } from '../../test/keys/tcp-gate.ts';

/*
 * What stands between the service and PostgreSQL, in a process of its own: all that passes becomes garbage, and to collect
 * it among what the process that measures keeps took both cores for 30 ms, once a second.
 */

/** Where it leads at first, and then what it is to do. */
export type WireOrder =
  | { readonly target: string }
  | { readonly leadTo: string }
  | 'lose'
  | 'freeze'
  | 'open'
  | 'count';
/** Its port, or how often it has withheld something so far. */
export type WireAnswer = { readonly port: number } | { readonly withheld: number };

try {
  // Elsewhere it is a network, and waits for no core.
  setPriority(constants.priority.PRIORITY_HIGH);
} catch {
  // Only root may; without that its waits count as the service's.
}

const answer = (told: WireAnswer) => process.send?.(told);

process.once('message', async ({ target }: { target: string }) => {
  const gate = await startGate(target);
  process.on('message', (order: Exclude<WireOrder, { target: string }>) => {
    if (typeof order === 'object') gate.leadTo(order.leadTo);
    else if (order !== 'count') gate[order]();
    answer({ withheld: gate.withheld() });
  });
  answer({ port: gate.port });
});
process.on('disconnect', () => process.exit(0));
