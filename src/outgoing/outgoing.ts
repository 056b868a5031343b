import type { Logger } from '../base/log.ts';
import type { BreakerState } from './breaker.ts';
import { type Callee, type CalleeOptions, createCallee } from './callee.ts';

/** Every callee of this process outside of itself, without its database. */
export type Outgoing = {
  /** Opens a callee: every call of it goes through what is returned. It connects at its first use. */
  open(options: CalleeOptions): Callee;
  /** The callees that are open. */
  callees(): readonly Callee[];
  /** Closes all callees. */
  close(): void;
};

type OutgoingOptions = {
  /** Called when a breaker opens and closes. */
  readonly log?: Logger;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
};

/** Creates the one way out. */
export function createOutgoing({ log, now = () => performance.now() }: OutgoingOptions = {}): Outgoing {
  const open = new Set<Callee>();
  return {
    open(options) {
      const { kind, label } = options;
      const callee = createCallee(options, {
        now,
        onState: createTeller({ kind, label }, log, now),
        onClose: () => open.delete(callee),
      });
      open.add(callee);
      return callee;
    },
    callees: () => [...open],
    close() {
      for (const callee of open) callee.close();
    },
  };
}

/** Says once that a breaker has opened, and once that it has closed, however many trials lie between. */
function createTeller(about: Pick<Callee, 'kind' | 'label'>, log: Logger | undefined, now: () => number) {
  let openSince: number | undefined;
  const words = { callee: about.kind, label: about.label };
  return (state: BreakerState) => {
    if (state === 'open' && openSince === undefined) {
      openSince = now();
      log?.warn(words, 'circuit breaker opened: only failures for seconds, so calls fail at once');
    } else if (state === 'closed' && openSince !== undefined) {
      log?.info({ ...words, ms: Math.round(now() - openSince) }, 'circuit breaker closed: it answers again');
      openSince = undefined;
    }
  };
}
