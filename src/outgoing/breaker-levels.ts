import type { Metrics } from '../metrics.ts';
import type { Outgoing } from './outgoing.ts';

/** Registers the gauge of the circuit breakers. Callees that strangers choose are counted together. */
export function watchBreakers(metrics: Metrics, outgoing: Pick<Outgoing, 'callees'>): void {
  metrics.levels({
    gauges: {
      breakers: {
        name: 'tallystick_circuit_breakers',
        help: 'Circuit breakers by what is called (authentication, upstream, node, metadata) and state: closed, open or half_open.',
        labels: ['callee', 'label', 'state'],
      },
    },
    sources: () => [{ name: 'circuit breakers', read: async () => ({ breakers: count(outgoing) }) }],
  });
}

function count(outgoing: Pick<Outgoing, 'callees'>) {
  const counts = new Map<string, number>();
  for (const { kind, label, state } of outgoing.callees()) {
    const key = JSON.stringify({ callee: kind, label, state: state() });
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, value]) => ({ labels: JSON.parse(key) as Record<string, string>, value }));
}
