import type { Database } from '../../contract/transaction.ts';
import type { DataProvider } from '../shared/provider.ts';
import { listApprovals } from './read/approvals.ts';
import { reconcile } from './read/reconciliation.ts';
import type { StateReader } from './read/state-reader.ts';
import { toReconciled } from './read/to-record.ts';
import type { TokenJudges } from './read/token-trust.ts';
import { listTokens } from './read/tokens.ts';

type Parts = { readonly db: Database; readonly states: StateReader; readonly judges: TokenJudges };

/** Answers from the built-in index, and from the state of contracts and accounts that a node has at its head. */
export function createStateProvider(parts: Parts): Required<Pick<DataProvider, 'tokens' | 'ledger'>> {
  return {
    tokens: (question) => listTokens(parts, question),
    ledger: {
      approvals: (question) => listApprovals(parts, question),
      async reconciliation(question, asOf) {
        return toReconciled(await reconcile(parts, { ...question, asOf }));
      },
    },
  };
}
