import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import { createLogWidth, type LogWidth } from '../../../chain/minting/log-scan.ts';

/** What a lane remembers of its search for evidence. Another process that takes the lane begins again. */
export type EvidenceMemory = {
  readonly width: LogWidth;
  /** Searches that have begun, by the id of the transaction whose NFTs they are for. */
  readonly searches: Map<string, MintSearch>;
  /** When what failed is tried again, by the id of the NFT or transaction. */
  readonly retries: Map<string, Retry>;
};

/** The search for the mints of the NFTs of a transaction. Each poll resumes it until it has ended. */
export type MintSearch = {
  readonly tokenIds: readonly string[];
  /** The newest mint of each token in the searched blocks. */
  readonly found: Map<string, MintEvent>;
  /** The searched blocks, which are final; undefined before the first poll. */
  searched: { from: bigint; to: bigint } | undefined;
  /** Whether the search goes back to the first block, for a mint that is older than the NFTs. */
  isDeep: boolean;
};

type Retry = { readonly tries: number; readonly at: number };

export const createEvidenceMemory = (): EvidenceMemory => ({
  width: createLogWidth(),
  searches: new Map(),
  retries: new Map(),
});

// Bounds each map. A cleared map costs only questions.
const mostEntries = 10_000;

/** Sets an entry of a map that must not grow without end. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  if (map.size >= mostEntries && !map.has(key)) map.clear();
  map.set(key, value);
  return value;
}

type Context = {
  readonly memory: { readonly evidence: EvidenceMemory };
  readonly now: () => number;
  readonly settings: { readonly pollMs: number };
};

// In polls. It is a minute where a poll takes a second.
const longest = 64;

/** Whether it is time to ask again about an NFT or a transaction. */
export function isDueForRetry({ memory, now }: Context, id: string): boolean {
  const retry = memory.evidence.retries.get(id);
  return retry === undefined || now() >= retry.at;
}

/** Remembers that a question about it failed. Each time it rests twice as long. */
export function restBeforeRetry({ memory, now, settings }: Context, id: string): void {
  const tries = (memory.evidence.retries.get(id)?.tries ?? 0) + 1;
  const polls = Math.min(2 ** (tries - 1), longest);
  remember(memory.evidence.retries, id, { tries, at: now() + polls * settings.pollMs });
}
