import type { Logger } from '../base/log.ts';
import type { DataProviderName } from '../chain/rpc/client/network.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../contract/transaction.ts';
import type { MayLag } from '../db/replica/replica-reads.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';
import { createLaggingLists } from './indexer/lagging-lists.ts';
import { guardReads } from './indexer/node-guard.ts';
import { listApprovals } from './indexer/read/approvals.ts';
import { reconcile } from './indexer/read/reconciliation.ts';
import type { StateReader } from './indexer/read/state-reader.ts';
import { toReconciled } from './indexer/read/to-record.ts';
import { createTokenJudges } from './indexer/read/token-trust.ts';
import { listTokens } from './indexer/read/tokens.ts';
import { createMoralisClient } from './moralis/client.ts';
import type { MoralisObserver } from './moralis/moralis-metrics.ts';
import { createMoralisProvider } from './moralis/moralis-provider.ts';
import type { DataProvider } from './shared/provider.ts';

/** The data providers by the name that a network's settings give. */
export type DataProviders = Readonly<Record<DataProviderName, DataProvider>>;

type ProviderParts = {
  readonly db: Database;
  /** Opens another session with the same database. */
  readonly openSession: () => Database;
  readonly mayLag: MayLag;
  readonly states: StateReader;
  readonly outgoing: Outgoing;
  readonly log: Logger;
  /** Notes what becomes of requests to the hosted provider. */
  readonly moralis?: MoralisObserver | undefined;
};

/** Creates every data provider: the hosted one from the settings, and the index in this database. */
export function createDataProviders(
  config: Config,
  { db, openSession, mayLag, states, outgoing, log, moralis }: ProviderParts,
): DataProviders {
  const client = createMoralisClient({
    baseUrl: config.MORALIS_BASE_URL,
    apiKey: config.MORALIS_API_KEY,
    timeoutMs: config.fixed.providerTimeoutMs,
    deadlineMs: config.fixed.providerDeadlineMs,
    outgoing,
    concurrency: config.MORALIS_CONCURRENCY,
    ...(moralis && { onTry: moralis.onTry }),
  });
  const judges = createTokenJudges(config.INDEX_TOKEN_LIST);
  const parts = { db, states, judges };
  const indexer: Required<DataProvider> = {
    ...createLaggingLists({ db, mayLag, judges }),
    // From the index, and the state of contracts and accounts that a node has at its head.
    tokens: (question) => listTokens(parts, question),
    ledger: {
      approvals: (question) => listApprovals(parts, question),
      async reconciliation(question, asOf) {
        return toReconciled(await reconcile(parts, { ...question, asOf }));
      },
    },
  };
  return {
    moralis: createMoralisProvider({ client, onRepair: moralis?.onRepair }),
    indexer: guardReads(indexer, { db, openSession, log }),
  };
}
