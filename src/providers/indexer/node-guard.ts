import { setTimeout as wait } from 'node:timers/promises';
import { problem } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { inBackground } from '../../base/request-scope.ts';
import type { Database } from '../../contract/transaction.ts';
import type { DataProvider } from '../shared/provider.ts';
import {
  type ClusterNode,
  findFrozenNodes,
  findNodeOf,
  isInCluster,
} from './store/write/cluster-node-store.ts';

// A longer read works hard, or waits for a node that does not answer.
const slowMs = 1_000;
// As long as a busy node may need for a connection.
const answerMs = 2_000;
const againMs = 1_000;

type Parts = {
  readonly db: Database;
  /** Opens another session with the same database. */
  readonly openSession: () => Database;
  readonly log: Logger;
};
/** @throws problem `service_unavailable` at once while the node of the wallet is known not to answer */
type Run = <T>(wallet: string, read: () => Promise<T>) => Promise<T>;

/**
 * Keeps reads of wallets from waiting for a frozen node of a Citus cluster, which neither the coordinator nor the
 * network notices. When a read is slow, the coordinator tries the nodes. While a node does not answer, reads of its
 * wallets are rejected, and the node is tried again. Reads under way end at their deadlines. Without a slow read this
 * asks the database nothing.
 */
function createNodeGuard({ db, openSession, log }: Parts): Run {
  let isCluster: boolean | undefined;
  let frozen: ReadonlySet<ClusterNode> = new Set();
  let isLooking = false;

  const lookOnce = async (): Promise<ReadonlySet<ClusterNode>> => {
    isCluster ??= await isInCluster(db);
    if (!isCluster) return frozen;
    const session = openSession();
    return findFrozenNodes(session, answerMs).finally(() => session.destroy());
  };

  const look = async () => {
    isLooking = true;
    do {
      const found = await lookOnce().catch(() => frozen);
      const nodes = [...found];
      if (nodes.join() !== [...frozen].join())
        log.warn(
          { nodes },
          'nodes of the cluster that do not answer have changed: reads of their wallets are rejected',
        );
      frozen = found;
      if (frozen.size > 0) await wait(againMs, undefined, { ref: false });
    } while (frozen.size > 0);
    isLooking = false;
  };

  return async (wallet, read) => {
    if (frozen.size > 0) {
      const node = await findNodeOf(db, wallet);
      const cause = new Error(`node ${node} of the cluster does not answer`);
      if (node !== undefined && frozen.has(node)) throw problem('service_unavailable', {}, { cause });
    }
    const slow = setTimeout(() => isLooking || void inBackground(look), slowMs);
    return read().finally(() => clearTimeout(slow));
  };
}

/** Returns the same provider, whose reads of a wallet do not wait for a node that is known to be frozen. */
export function guardReads(provider: Required<DataProvider>, parts: Parts): Required<DataProvider> {
  const run = createNodeGuard(parts);
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
