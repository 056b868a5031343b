import type { Findings, HoldingFinding } from './holdings.ts';
import { type Token, tokenKey } from './token.ts';

/** What an event asks of wallets. */
export type Requirements = {
  readonly contractRequiredToAttend: readonly string[];
  readonly contractRequiredToDiscount: readonly string[];
  readonly requireAll: boolean;
  /** In decimal digits. */
  readonly minimumBalance: string;
  readonly oneAdmissionPerToken: boolean;
};

/** Why a wallet is not admitted. */
type Rejection = 'wallet_not_eligible' | 'tokens_used' | 'token_ids_required';

export type JudgedEntry = {
  readonly finding: HoldingFinding;
  readonly state: 'matches' | 'does_not_match' | 'not_decidable';
  readonly reason: string | null;
  /** Tokens that have admitted nobody; null where they are not asked for, or not known. */
  readonly freeTokenIds: readonly string[] | null;
};

export type Verdict = {
  readonly attend: readonly JudgedEntry[];
  readonly discount: readonly JudgedEntry[];
  readonly getsDiscount: boolean;
  /** The tokens that the admission consumes, or why there is none. */
  readonly admission: readonly Token[] | Rejection;
};

type Outcome = readonly Token[] | Rejection;

/**
 * Judges what a wallet may do.
 * @param used keys of the tokens that have admitted somebody
 * @param isNamed whether the caller has named tokens, so that no others count
 */
export function judgeWallet(
  event: Requirements,
  findings: Findings,
  used: ReadonlySet<string>,
  isNamed: boolean,
): Verdict {
  const of = (entries: readonly string[]) => entries.flatMap((entry) => findings.get(entry) ?? []);
  const discount = of(event.contractRequiredToDiscount).map((finding) => byBalance(finding, event).judged);
  const attend = of(event.contractRequiredToAttend).map((finding) =>
    event.oneAdmissionPerToken ? byTokens(finding, event, used, isNamed) : byBalance(finding, event),
  );
  const outcomes = attend.map(({ outcome }) => outcome);
  return {
    attend: attend.map(({ judged }) => judged),
    discount,
    getsDiscount: discount.length > 0 && isEnough(discount, event),
    admission: event.requireAll || outcomes.length === 0 ? ofAll(outcomes) : ofAny(outcomes),
  };
}

const isEnough = (judged: readonly JudgedEntry[], { requireAll }: Requirements) =>
  requireAll
    ? judged.every(({ state }) => state === 'matches')
    : judged.some(({ state }) => state === 'matches');

type Judged = { readonly judged: JudgedEntry; readonly outcome: Outcome };

function byBalance(finding: HoldingFinding, { minimumBalance }: Requirements): Judged {
  if ('undecidable' in finding) return notDecidable(finding, finding.undecidable);
  const matches = finding.balance >= BigInt(minimumBalance);
  return {
    judged: { finding, state: matches ? 'matches' : 'does_not_match', reason: null, freeTokenIds: null },
    outcome: matches ? [] : 'wallet_not_eligible',
  };
}

function byTokens(
  finding: HoldingFinding,
  { minimumBalance }: Requirements,
  used: ReadonlySet<string>,
  isNamed: boolean,
): Judged {
  if ('undecidable' in finding) return notDecidable(finding, finding.undecidable);
  const { standard, chainId, contract, balance, tokenIds } = finding;
  if (standard !== 'ERC721' || chainId === null || contract === null)
    return notDecidable(
      finding,
      `Units of an ${standard} are all alike, so none of them can admit only once.`,
    );
  const minimum = BigInt(minimumBalance);
  const free = (tokenIds ?? [])
    .map((tokenId) => ({ chainId, contract, tokenId }))
    .filter((token) => !used.has(tokenKey(token)));
  // A list of all tokens, or of the tokens that the caller has named. Whether others are free is unknown.
  const isKnown = tokenIds !== undefined && (isNamed || BigInt(tokenIds.length) >= balance);
  const owned = isNamed && tokenIds !== undefined ? BigInt(tokenIds.length) : balance;
  const outcome = ((): Outcome => {
    if (owned < minimum) return 'wallet_not_eligible';
    if (BigInt(free.length) >= minimum) return free.slice(0, Number(minimum));
    return isKnown ? 'tokens_used' : 'token_ids_required';
  })();
  const matches = typeof outcome !== 'string' || outcome === 'token_ids_required';
  const freeTokenIds = tokenIds === undefined ? null : free.map(({ tokenId }) => tokenId);
  return {
    judged: { finding, state: matches ? 'matches' : 'does_not_match', reason: null, freeTokenIds },
    outcome,
  };
}

const notDecidable = (finding: HoldingFinding, reason: string): Judged => ({
  judged: { finding, state: 'not_decidable', reason, freeTokenIds: null },
  outcome: 'wallet_not_eligible',
});

/** The tokens of the first entry that admits; otherwise what stands least in the way. */
function ofAny(outcomes: readonly Outcome[]): Outcome {
  const admitted = outcomes.find((outcome) => typeof outcome !== 'string');
  if (admitted !== undefined) return admitted;
  return (
    (['token_ids_required', 'tokens_used'] as const).find((rejection) => outcomes.includes(rejection)) ??
    'wallet_not_eligible'
  );
}

/** The tokens of all entries, each once; otherwise what stands most in the way. */
function ofAll(outcomes: readonly Outcome[]): Outcome {
  const rejection = (['wallet_not_eligible', 'tokens_used', 'token_ids_required'] as const).find((each) =>
    outcomes.includes(each),
  );
  if (rejection !== undefined) return rejection;
  const tokens = outcomes.flatMap((outcome) => (typeof outcome === 'string' ? [] : outcome));
  return [...new Map(tokens.map((token) => [tokenKey(token), token])).values()];
}
