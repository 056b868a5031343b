import type { Metrics } from '../../../base/metrics.ts';
import type { OnAnswer } from './rpc-clients.ts';

/** Counts the outcomes of requests to nodes, by the node's host. */
export function createRpcMetrics(metrics: Metrics): OnAnswer {
  const answers = metrics.counter({
    name: 'tallystick_node_answers_total',
    help: 'Calls to nodes: answered, left to another node (elsewhere), or why there was no answer.',
    labels: ['chain_id', 'node', 'outcome'],
  });
  return (chainId, node, outcome) => answers.inc({ chain_id: chainId, node, outcome });
}
