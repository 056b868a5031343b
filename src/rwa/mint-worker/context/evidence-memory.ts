import { createLogWidth, type LogWidth, type MintSearch } from '../../../chain/minting/mint-logs.ts';
import type { Bisection } from '../../minting/compare/bisect.ts';

/** What a lane remembers of its search for evidence. It begins anew when another process takes the lane. */
export type EvidenceMemory = {
  readonly width: LogWidth;
  /** Searches that have begun, by the id of the transaction whose NFTs they are for. */
  readonly searches: Map<string, TransactionSearch>;
  /** Bisections for the first block since a time, by that time in hours. */
  readonly ages: Map<number, Age>;
  /** Bisections for the block in which a contract was created, by its address. */
  readonly origins: Map<string, Bisection>;
  /** When what failed is tried again, by the id of the NFT or transaction. */
  readonly retries: Map<string, Retry>;
};

export type TransactionSearch = {
  readonly logs: MintSearch;
  /** Whether it goes back to the creation of the contract, to find a mint that is older than the NFTs. */
  isDeep: boolean;
};

/** The search for the first block since a time, and the newest block that the node was found not to have any more. */
export type Age = Bisection & { pruned?: bigint };

type Retry = { readonly tries: number; readonly at: number };

export const createEvidenceMemory = (): EvidenceMemory => ({
  width: createLogWidth(),
  searches: new Map(),
  ages: new Map(),
  origins: new Map(),
  retries: new Map(),
});

// Bounds each map. Nothing is lost when one is cleared: it is found out again.
const mostEntries = 10_000;

/** Sets an entry of a map that must not grow without end. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  if (map.size >= mostEntries && !map.has(key)) map.clear();
  map.set(key, value);
  return value;
}
