import type { MetadataChange } from './domain.ts';

/** Tokens of one contract, both ends included. */
export type TokenRange = { readonly first: bigint; readonly last: bigint };

// A longer range counts as the whole collection. Many contracts announce a range without end when they mean all
// tokens.
const longestRange = 100n;

// A range costs 1,300 gas. A contract with more ranges counts as a whole collection, as does a contract beyond the
// limit of a block.
const mostOfContract = 1_000;
const mostOfBlock = 10_000;

/** The tokens of a block whose metadata changed, each once. */
export function createMetadataChanges() {
  const collections = new Set<string>();
  const tokens = new Map<string, Set<bigint>>();
  const full = new Set<string>();
  let count = 0;
  const fill = (token: string, known: ReadonlySet<bigint>) => {
    collections.add(token);
    full.add(token);
    tokens.delete(token);
    count -= known.size;
  };
  const addAll = (token: string, first: bigint, last: bigint) => {
    const known = tokens.get(token) ?? new Set();
    tokens.set(token, known);
    for (let tokenId = first; tokenId <= last; tokenId += 1n) {
      if (known.has(tokenId)) continue;
      if (known.size >= mostOfContract || count >= mostOfBlock) {
        fill(token, known);
        return;
      }
      known.add(tokenId);
      count += 1;
    }
  };
  return {
    add(token: string, { first, last }: TokenRange): void {
      if (full.has(token)) return;
      if (last - first >= longestRange) collections.add(token);
      else addAll(token, first, last);
    },
    all: (): readonly MetadataChange[] => [
      ...[...collections].map((token) => ({ token, tokenId: undefined })),
      ...[...tokens].flatMap(([token, ids]) => [...ids].map((tokenId) => ({ token, tokenId }))),
    ],
  };
}
