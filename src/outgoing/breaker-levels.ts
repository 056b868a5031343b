import type { Metrics } from '../base/metrics.ts';
import type { Callee } from './callee.ts';
import type { Outgoing } from './outgoing.ts';

/** Registers the gauge of the circuit breakers. Callees that strangers choose are counted together. */
export function watchBreakers(metrics: Metrics, outgoing: Pick<Outgoing, 'callees'>): void {
  metrics.levels({
    gauges: {
      breakers: {
        name: 'tallystick_circuit_breakers',
        help: 'Circuit breakers by callee (authentication, upstream, node, metadata, webhook) and state: closed, open, half_open or idle. Idle means open without a call for ten minutes: nobody knows whether the callee still fails.',
        labels: ['callee', 'label', 'state'],
      },
    },
    sources: () => [{ name: 'circuit breakers', read: async () => ({ breakers: count(outgoing) }) }],
  });
}

// Only a call closes a breaker. A process that still needs the callee asks for one sooner.
const idleMs = 600_000;

const stateOf = (callee: Callee) =>
  callee.state() === 'open' && callee.idleMs() >= idleMs ? 'idle' : callee.state();

function count(outgoing: Pick<Outgoing, 'callees'>) {
  const counts = new Map<string, number>();
  for (const callee of outgoing.callees()) {
    const key = JSON.stringify({ callee: callee.kind, label: callee.label, state: stateOf(callee) });
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, value]) => ({ labels: JSON.parse(key) as Record<string, string>, value }));
}
