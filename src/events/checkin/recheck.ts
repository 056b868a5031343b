import { problem } from '../../base/errors.ts';
import { mapFewAtOnce } from '../../base/few-at-once.ts';
import type { Tx } from '../../contract/transaction.ts';
import type { Lacks } from '../../db/connection/rounds.ts';
import { parseEntry } from '../eligibility/entry.ts';
import type { Findings, HoldingsReader } from '../eligibility/holdings.ts';
import { judgeWallet } from '../eligibility/judge.ts';
import { type Token, tokenKey } from '../eligibility/token.ts';
import { findConsumedTokens } from '../eligibility/token-store.ts';
import type { EventRecord } from '../event.ts';
import { atField } from '../event-rules.ts';
import type { Registration } from './checkin-store.ts';

/** Somebody at the door, who registered with a wallet. */
type Entrant = {
  readonly ticketId: string;
  /** EIP-55. */
  readonly wallet: string;
  /** That the admission has consumed. */
  readonly tokens: readonly Token[];
};

/** The reading of the chains for tickets of an event as it was then. */
export type Reading = {
  readonly version: number;
  readonly tickets: ReadonlySet<string>;
  readonly ineligible: ReadonlySet<string>;
};

/** A reading of no ticket. */
export const nothingRead: Reading = { version: 0, tickets: new Set(), ineligible: new Set() };

export type Rechecks = {
  readonly holdings: HoldingsReader;
  readonly reading: Reading | undefined;
  readonly lacks: Lacks<Reading>;
  /** The field of the request that names the tickets, for a request that names too many. */
  readonly field: '/items' | '/scans';
};

/**
 * Finds the tickets whose wallets do not fulfil the requirements of an event any more.
 * @returns undefined where nobody is asked about
 * @throws what `lacks` returns, when a wallet was not read for the event as it is
 */
export async function findIneligible(
  tx: Tx,
  event: EventRecord,
  registrations: readonly Pick<Registration, 'attendeeId' | 'ticketId' | 'wallet'>[],
  { holdings, reading, lacks, field }: Rechecks,
): Promise<ReadonlySet<string> | undefined> {
  const checked = registrations.flatMap(({ attendeeId, ticketId, wallet }) =>
    event.recheckAtCheckin && wallet !== null ? [{ attendeeId, ticketId, wallet }] : [],
  );
  if (checked.length === 0) return undefined;
  if (reading?.version === event.version && checked.every(({ ticketId }) => reading.tickets.has(ticketId)))
    return reading.ineligible;
  const ids = checked.map(({ attendeeId }) => attendeeId);
  const consumed = event.oneAdmissionPerToken ? await findConsumedTokens(tx, event.id, ids) : [];
  const entrants = checked.map(({ attendeeId, ...entrant }) => ({
    ...entrant,
    tokens: consumed.filter((token) => token.attendeeId === attendeeId),
  }));
  throw lacks(async () => ({
    version: event.version,
    tickets: new Set(entrants.map(({ ticketId }) => ticketId)),
    ineligible: await readIneligible(holdings, event, entrants, field),
  }));
}

// A check-in has up to two hundred wallets, with some calls to nodes each.
const walletsAtOnce = 4;
/** A reading is a contract of a wallet, or a token of it. A check-in of several tickets reads so many at most, in some seconds. */
const mostReadings = 400;

/**
 * Reads which tickets have wallets that do not fulfil the requirements of an event. Each wallet is read once.
 * @throws ProblemError `too_many_readings`; `eligibility_unavailable` when this is unknown of a wallet
 */
async function readIneligible(
  holdings: HoldingsReader,
  event: EventRecord,
  entrants: readonly Entrant[],
  field: Rechecks['field'],
): Promise<ReadonlySet<string>> {
  const asked = [...Map.groupBy(entrants, ({ wallet }) => wallet)].map(([wallet, those]) => ({
    those,
    question: questionOf(event, wallet, those),
  }));
  assertFew(
    holdings,
    event,
    asked.map(({ those }) => those),
    field,
  );
  const ineligible = new Set<string>();
  await mapFewAtOnce(asked, walletsAtOnce, async ({ question, those }) => {
    const findings = await holdings.read(question);
    // The admission has consumed its tokens already, so none needs to be free.
    const { admission } = judgeWallet({ ...event, oneAdmissionPerToken: false }, findings, new Set(), false);
    const isLost = createLost(findings);
    for (const { ticketId, tokens } of those)
      if (typeof admission === 'string' || tokens.some(isLost)) ineligible.add(ticketId);
  });
  return ineligible;
}

const questionOf = (event: EventRecord, wallet: string, those: readonly Entrant[]) => ({
  event,
  discounts: false,
  wallet: { lower: wallet.toLowerCase(), checksum: wallet },
  tokens: event.oneAdmissionPerToken ? those.flatMap(({ tokens }) => tokens) : ('uncounted' as const),
});

/**
 * @param wallets the tickets of each
 * @throws ProblemError `too_many_readings`
 */
function assertFew(
  holdings: HoldingsReader,
  event: EventRecord,
  wallets: readonly (readonly Entrant[])[],
  field: Rechecks['field'],
): void {
  const count = (those: readonly Entrant[]): number => {
    const [first] = those;
    return first === undefined ? 0 : holdings.countReadings(questionOf(event, first.wallet, those));
  };
  const unread = wallets.filter((those) => count(those) > 0);
  const tickets = unread.flat();
  const readings = unread.reduce((sum, those) => sum + count(those), 0);
  if (readings <= mostReadings || tickets.length === 1) return;
  const most = mostWithin(tickets.map((each) => count([each])));
  const contracts = new Set(event.contractRequiredToAttend.filter((text) => isContract(event, text)));
  const words = {
    entries: String(contracts.size),
    wallets: String(unread.length),
    tickets: String(tickets.length),
    most: String(Math.max(1, Math.min(most, tickets.length - 1))),
  };
  throw atField(problem('too_many_readings', words), field);
}

/** Returns how many of these costs fit into a request, in any choice. */
function mostWithin(costs: readonly number[]): number {
  let [count, sum] = [0, 0];
  for (const cost of costs.toSorted((one, other) => other - one)) {
    sum += cost;
    if (sum <= mostReadings) count += 1;
  }
  return count;
}

const isContract = ({ chainId }: EventRecord, text: string) => parseEntry(text, chainId).kind === 'contract';

/** Returns what says whether findings were asked for a token, and none has it. The event may have other entries by now. */
function createLost(findings: Findings): (token: Token) => boolean {
  const asked = new Set<string>();
  const owned = new Set<string>();
  for (const finding of findings.values()) {
    const { chainId, contract, tokenId } = finding;
    if (chainId === null || contract === null) continue;
    asked.add(tokenKey({ chainId, contract, tokenId: tokenId ?? every }));
    const ids = 'tokenIds' in finding ? (finding.tokenIds ?? []) : [];
    for (const id of ids) owned.add(tokenKey({ chainId, contract, tokenId: id }));
  }
  return (token) =>
    (asked.has(tokenKey(token)) || asked.has(tokenKey({ ...token, tokenId: every }))) &&
    !owned.has(tokenKey(token));
}

/** In place of an id: all tokens of a contract are asked for. */
const every = '*';
