import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { createFlightCache } from '../../base/cache/flight-cache.ts';
import { mapFewAtOnce } from '../../base/few-at-once.ts';
import { withEnd } from '../../base/request-scope.ts';
import type { Address } from '../../chain/address.ts';
import type { AgreedBlock } from '../../chain/holdings/agreed-block.ts';
import { mostTokens, readHolding, type TokenStandard } from '../../chain/holdings/token-holding.ts';
import { type Entry, noEntry, parseEntry } from './entry.ts';
import { type ReaderParts, readNetwork, unavailable } from './read-network.ts';
import { findRwaHoldings } from './rwa-holding-store.ts';
import { type Token, tokenKey } from './token.ts';

/** The event whose entries are read. A change of them is another version. */
type EntriesOf = {
  readonly companyId: string;
  readonly id: string;
  readonly version: number;
  /** The network of entries that name none. */
  readonly chainId: string | null;
  readonly contractRequiredToAttend: readonly string[];
  readonly contractRequiredToDiscount: readonly string[];
};

type HoldingsQuestion = {
  readonly event: EntriesOf;
  /** Whether the entries of discounts are read too. */
  readonly discounts: boolean;
  readonly wallet: Address;
  /** Ids are asked for at every contract, tokens at their own. */
  readonly tokens: 'uncounted' | 'listed' | readonly string[] | readonly Token[];
};

/** What a wallet owns of an entry, or why that cannot be said of any wallet. */
export type HoldingFinding = {
  readonly entry: string;
  readonly standard: TokenStandard | null;
  readonly chainId: string | null;
  /** EIP-55. */
  readonly contract: string | null;
  readonly tokenId: string | null;
  readonly block: AgreedBlock | null;
} & (
  | { readonly undecidable: string }
  | { readonly balance: bigint; readonly tokenIds: readonly string[] | undefined }
);

/** Findings by the text of their entry. */
export type Findings = ReadonlyMap<string, HoldingFinding>;

export type HoldingsReader = {
  /**
   * Reads what a wallet owns of the entries of an event, at most {@link maxAgeSeconds} ago.
   * @throws ProblemError `eligibility_unavailable` when this is unknown of an entry; it is not cached
   */
  read(question: HoldingsQuestion): Promise<Findings>;
  /** Counts what {@link read} would ask nodes about: contracts, and each token of them beyond the first; 0 of a reading in the cache. */
  countReadings(question: HoldingsQuestion): number;
  close(): void;
};

/** How long a reading is cached, as balances are. */
const maxAgeSeconds = 60;
// Of one reading. A list has up to a hundred entries, with some calls each, and a list of tokens up to a hundred calls.
const [entriesAtOnce, callsAtOnce] = [3, 12];

type ContractEntry = Extract<Entry, { kind: 'contract' }>;
type Named<E> = { readonly text: string; readonly entry: E };

/** Creates a reader of what wallets own, with a cache in this process. */
export function createHoldingsReader(parts: ReaderParts & { readonly cacheBytes: number }): HoldingsReader {
  const cache = createFlightCache<Findings>({ maxBytes: parts.cacheBytes, bytesOf });
  return {
    read: (question) =>
      cache.get(keyOf(question), async () => {
        const began = performance.now();
        const value = await readAll(parts, question);
        return { value, ttlSeconds: maxAgeSeconds - (performance.now() - began) / 1_000 };
      }),
    countReadings: (question) =>
      cache.peek(keyOf(question)) === undefined
        ? contractsOf(namedOf(question)).reduce((sum, { entry }) => sum + readingsOf(entry, question), 0)
        : 0,
    close: () => cache.close(),
  };
}

function keyOf({ event, discounts, wallet, tokens }: HoldingsQuestion): string {
  const asked =
    typeof tokens === 'string'
      ? tokens
      : createHash('sha256')
          .update(tokens.map((token) => (typeof token === 'string' ? token : tokenKey(token))).join())
          .digest('hex');
  return [event.id, event.version, discounts, wallet.lower, asked].join(' ');
}

/** What findings take, by a generous estimate. */
function bytesOf(findings: Findings): number {
  const ids = (finding: HoldingFinding) => ('tokenIds' in finding ? (finding.tokenIds ?? []) : []);
  return [...findings.values()].reduce(
    (sum, finding) =>
      sum + 600 + 2 * finding.entry.length + ids(finding).reduce((size, id) => size + 40 + id.length, 0),
    0,
  );
}

const namedOf = ({ event, discounts }: HoldingsQuestion): Named<Entry>[] =>
  [
    ...new Set([...event.contractRequiredToAttend, ...(discounts ? event.contractRequiredToDiscount : [])]),
  ].map((text) => ({ text, entry: parseEntry(text, event.chainId) }));

const contractsOf = (named: readonly Named<Entry>[]): Named<ContractEntry>[] =>
  named.flatMap(({ text, entry }) => (entry.kind === 'contract' ? [{ text, entry }] : []));

/** The tokens that a contract is asked about: of all tokens, only its own. */
function tokensOf({ chainId, contract }: ContractEntry, tokens: HoldingsQuestion['tokens']) {
  if (typeof tokens === 'string') return tokens;
  return tokens.flatMap((token) => {
    if (typeof token === 'string') return [token];
    return token.chainId === chainId && token.contract === contract ? [token.tokenId] : [];
  });
}

function readingsOf(entry: ContractEntry, { tokens }: HoldingsQuestion): number {
  const asked = entry.tokenId === null ? tokensOf(entry, tokens) : [];
  return typeof asked === 'string' ? 1 : Math.max(1, asked.length);
}

/** The first failure ends the questions that are left: their answers would be of no use. */
async function readAll(parts: ReaderParts, question: HoldingsQuestion): Promise<Findings> {
  const named = namedOf(question);
  const ofChains = Map.groupBy(contractsOf(named), ({ entry }) => entry.chainId);
  const end = new AbortController();
  try {
    const found = await withEnd(end.signal, () =>
      Promise.all([
        readRwas(parts, question, named),
        ...[...ofChains].map(([chainId, those]) => readChain(parts, question, chainId, those)),
      ]),
    );
    return new Map(found.flat().map((finding) => [finding.entry, finding]));
  } catch (error) {
    end.abort(error);
    throw error;
  }
}

async function readChain(
  parts: ReaderParts,
  { wallet, tokens }: HoldingsQuestion,
  chainId: string,
  named: readonly Named<ContractEntry>[],
): Promise<HoldingFinding[]> {
  const few = pLimit(callsAtOnce);
  return readNetwork(parts, chainId, (node, block) =>
    mapFewAtOnce(named, entriesAtOnce, async ({ text, entry }) => {
      const { contract, tokenId } = entry;
      const question = { contract, tokenId, wallet: wallet.lower, tokens: tokensOf(entry, tokens) };
      const holding = await readHolding(node, block.number, question, few);
      return { entry: text, chainId, contract, tokenId, block, ...holding };
    }),
  );
}

/** RWAs of the company, and the entries that name nothing. */
async function readRwas(
  { db }: ReaderParts,
  { event: { companyId }, wallet, tokens }: HoldingsQuestion,
  named: readonly Named<Entry>[],
): Promise<HoldingFinding[]> {
  const ids = named.flatMap(({ entry }) => (entry.kind === 'rwa' ? [entry.id] : []));
  const asked = {
    companyId,
    ids,
    wallet: wallet.checksum,
    tokens:
      typeof tokens === 'string'
        ? mostTokens
        : tokens.map((token) => (typeof token === 'string' ? token : token.tokenId)),
  };
  const found = ids.length === 0 ? [] : await findRwaHoldings(db, asked);
  return named.flatMap(({ text, entry }): HoldingFinding[] => {
    if (entry.kind === 'contract') return [];
    const holding = entry.kind === 'rwa' ? found.find(({ rwaId }) => rwaId === entry.id) : undefined;
    if (holding === undefined) {
      const undecidable = entry.kind === 'other' ? entry.reason : noEntry;
      const nothing = { standard: null, chainId: null, contract: null, tokenId: null, block: null };
      return [{ entry: text, ...nothing, undecidable }];
    }
    const { chainId, contract, balance, block, tokenIds } = holding;
    if (block === undefined) throw unavailable(`the owners of the RWA ${holding.rwaId} were not read lately`);
    return [{ entry: text, standard: 'ERC721', chainId, contract, tokenId: null, block, balance, tokenIds }];
  });
}
