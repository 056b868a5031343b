import type { Metrics } from '../../../base/metrics.ts';
import type { RpcClients } from './rpc-clients.ts';

/** Registers the gauge of the nodes that this process has polled. */
export function watchNodes(metrics: Metrics, { clients }: { readonly clients: RpcClients }): void {
  metrics.levels({
    gauges: {
      state: {
        name: 'tallystick_rpc_node_state',
        help: '1 for the state of a node: unknown, usable, standing, lagging, forked, foreign or failing. Other states are absent.',
        labels: ['chain_id', 'node', 'state'],
      },
    },
    sources: () => [{ name: 'nodes', read: async () => levelsOf(clients) }],
  });
}

function levelsOf(clients: RpcClients) {
  return {
    state: clients
      .list()
      .flatMap(({ chainId, nodes }) =>
        nodes.map(({ node, state }) => ({ labels: { chain_id: chainId, node, state }, value: 1 })),
      ),
  };
}
