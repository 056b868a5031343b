/** The node has been below the index for long, on the same branch as far as it goes. */
export class NodeBelowError extends Error {
  constructor(chainId: string, nodeHead: bigint, head: bigint) {
    super(
      `The node of network ${chainId} is at block ${nodeHead}, below the index, which is at ${head}. ` +
        `Ask another one: tallystick network update ${chainId} --rpc-url <url>. ` +
        `If its chain was begun anew: tallystick index reset ${chainId}`,
    );
    this.name = 'NodeBelowError';
  }
}

// As long as a node of a lane may show no new block. A node that lags behind others at its address has caught up by
// then.
const patienceMs = 2 * 60_000;

/**
 * Creates the watch over a node that is below the index. Such a node answers and gives nothing to do, so without an
 * error nobody would notice it.
 */
export function createBelowWatch(chainId: string, patience = patienceMs) {
  let below: { readonly error: NodeBelowError; readonly since: number } | undefined;
  return {
    /** Takes the newest block of the node at each step, and that of the index. */
    sees(nodeHead: bigint, head: bigint | undefined): void {
      const isBelow = head !== undefined && nodeHead < head;
      const since = below?.since ?? performance.now();
      below = isBelow ? { error: new NodeBelowError(chainId, nodeHead, head), since } : undefined;
    },
    /**
     * Passes on the outcome of a step that has nothing to do. @throws NodeBelowError when the node has been below the
     * index for long
     */
    idle(): 'idle' {
      if (below !== undefined && performance.now() - below.since >= patience) throw below.error;
      return 'idle';
    },
  };
}
