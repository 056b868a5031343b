import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../contract/transaction.ts';
import { problem } from '../../errors.ts';
import { untilAborted } from '../../in-time.ts';
import type { Logger } from '../../log.ts';
import { currentScope, inBackground, inScope, throwIfEnded, watchEnd } from '../../request-scope.ts';
import type { DataProvider } from '../provider.ts';
import {
  type ClusterNode,
  findNodesOf,
  isNodeAnswering,
  listWalletNodes,
} from './store/cluster-node-store.ts';

// A read that takes longer works hard, or waits for a node that answers nothing.
const slowMs = 1_000;
// As long as a node that has much to do may need for a connection.
const answerMs = 2_000;
const againMs = 1_000;

type Reading = { readonly wallet: string; readonly end: AbortController };

type NodeGuard = {
  /**
   * Runs a read of a wallet for the present request.
   * @throws problem `service_unavailable` at once while the node of the wallet answers nothing
   */
  run<T>(wallet: string, read: () => Promise<T>): Promise<T>;
};

/**
 * Keeps reads of wallets from waiting for a node of a Citus cluster that is frozen: neither the coordinator nor the network
 * notices, so each would hold a connection until its deadline, and what the pool has of them would be gone for the wallets
 * of all other nodes. When a read is slow, the nodes are tried. While one of them does not answer, reads of its wallets are
 * refused, those under way too, and it is tried again and again. As long as all goes well this asks the database nothing.
 */
function createNodeGuard({ db, log }: { readonly db: Database; readonly log: Logger }): NodeGuard {
  const readings = new Set<Reading>();
  let frozen: ReadonlySet<ClusterNode> = new Set();
  let isLooking = false;

  const refuse = async (those: readonly Reading[]) => {
    if (those.length === 0) return;
    const nodes = await findNodesOf(db, [...new Set(those.map(({ wallet }) => wallet))]);
    for (const { wallet, end } of those) {
      const node = nodes.get(wallet);
      if (node !== undefined && frozen.has(node)) end.abort(unavailable(node));
    }
  };

  const look = async () => {
    do {
      const found = await findFrozen(db).catch((err: unknown) => {
        log.debug({ err }, 'nodes of the cluster could not be tried');
        return new Set<ClusterNode>();
      });
      for (const node of found)
        if (!frozen.has(node))
          log.warn({ node }, 'node of the cluster does not answer: its wallets are refused');
      for (const node of frozen)
        if (!found.has(node)) log.info({ node }, 'node of the cluster answers again');
      frozen = found;
      if (frozen.size === 0) return;
      await refuse([...readings]).catch(() => {}); // they are refused by their deadlines
      await wait(againMs, undefined, { ref: false });
    } while (frozen.size > 0);
  };
  const lookSoon = () => {
    if (isLooking) return;
    isLooking = true;
    void inBackground(look).finally(() => {
      isLooking = false;
    });
  };

  return {
    async run(wallet, read) {
      const scope = currentScope();
      if (scope === undefined) return read();
      throwIfEnded(scope);
      const reading: Reading = { wallet, end: new AbortController() };
      if (frozen.size > 0) await refuse([reading]);
      const unwatch = watchEnd(scope, (reason) => reading.end.abort(reason));
      const slow = setTimeout(lookSoon, slowMs);
      readings.add(reading);
      try {
        reading.end.signal.throwIfAborted();
        const within = { ...scope, ending: undefined, signal: reading.end.signal };
        return await untilAborted(inScope(within, read), reading.end.signal);
      } finally {
        clearTimeout(slow);
        unwatch();
        readings.delete(reading);
      }
    },
  };
}

const unavailable = (node: ClusterNode) =>
  problem('service_unavailable', {}, { cause: new Error(`node ${node} of the cluster does not answer`) });

async function findFrozen(db: Database): Promise<Set<ClusterNode>> {
  const frozen = new Set<ClusterNode>();
  for (const node of await listWalletNodes(db)) {
    if (!(await isNodeAnswering(db, node, answerMs))) frozen.add(node);
  }
  return frozen;
}

/** The same provider, whose reads of a wallet wait for no node that is frozen. */
export function guardReads(
  provider: Required<DataProvider>,
  parts: { readonly db: Database; readonly log: Logger },
): Required<DataProvider> {
  const { run } = createNodeGuard(parts);
  const { ledger } = provider;
  return {
    filters: provider.filters,
    history: (question) => run(question.address, () => provider.history(question)),
    nfts: (question) => run(question.address, () => provider.nfts(question)),
    tokens: (question) => run(question.address, () => provider.tokens(question)),
    seen: (networks, address) => run(address, () => provider.seen(networks, address)),
    ledger: {
      approvals: (question) => run(question.address, () => ledger.approvals(question)),
      reconciliation: (question, asOf) => run(question.address, () => ledger.reconciliation(question, asOf)),
    },
  };
}
