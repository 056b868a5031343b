import { problem } from '../../base/errors.ts';
import { mapFewAtOnce } from '../../base/few-at-once.ts';
import type { Tx } from '../../contract/transaction.ts';
import type { Lacks } from '../../db/connection/rounds.ts';
import type { Findings, HoldingsReader } from '../eligibility/holdings.ts';
import { judgeWallet, type Token } from '../eligibility/judge.ts';
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

/** What was read of the chains for tickets of an event as it was then. */
export type Reading = {
  readonly version: number;
  readonly tickets: ReadonlySet<string>;
  readonly ineligible: ReadonlySet<string>;
};

type Rechecks = {
  readonly holdings: HoldingsReader;
  readonly reading: Reading | undefined;
  readonly lacks: Lacks<Reading>;
  /** The field of the request that names the tickets, for a request that names too many. */
  readonly field: '/items' | '/scans';
};

/**
 * Finds the tickets whose wallets do not fulfil the requirements of an event any more; none where it does not ask.
 * @throws what `lacks` returns, when a wallet was not read for the event as it is
 */
export async function findIneligible(
  tx: Tx,
  event: EventRecord,
  registrations: readonly Registration[],
  { holdings, reading, lacks, field }: Rechecks,
): Promise<ReadonlySet<string>> {
  const checked = registrations.flatMap(({ attendeeId, ticketId, wallet, checkedInAt }) =>
    event.recheckAtCheckin && wallet !== null && checkedInAt === null
      ? [{ attendeeId, ticketId, wallet }]
      : [],
  );
  if (checked.length === 0) return new Set();
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
/** A reading is a contract and a wallet. A check-in reads so many at most, in some seconds. */
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
  const readings = asked.map(({ question }) => holdings.countReadings(question));
  assertFew(
    readings.filter((count) => count > 0),
    field,
  );
  const ineligible = new Set<string>();
  await mapFewAtOnce(asked, walletsAtOnce, async ({ question, those }) => {
    const findings = await holdings.read(question);
    // The admission has consumed its tokens already, so none needs to be free.
    const { admission } = judgeWallet({ ...event, oneAdmissionPerToken: false }, findings, new Set(), false);
    for (const { ticketId, tokens } of those)
      if (typeof admission === 'string' || tokens.some((token) => isLost(token, findings)))
        ineligible.add(ticketId);
  });
  return ineligible;
}

const questionOf = (event: EventRecord, wallet: string, those: readonly Entrant[]) => ({
  event,
  discounts: false,
  wallet: { lower: wallet.toLowerCase(), checksum: wallet },
  tokens: event.oneAdmissionPerToken
    ? those.flatMap(({ tokens }) => tokens.map(({ tokenId }) => tokenId))
    : ('uncounted' as const),
});

/** @param readings of each wallet that is not in the cache: all have the same number of contracts */
function assertFew(readings: readonly number[], field: Rechecks['field']): void {
  const [contracts = 0] = readings;
  if (contracts * readings.length <= mostReadings) return;
  const most = Math.floor(mostReadings / contracts);
  const words = { entries: String(contracts), wallets: String(readings.length), most: String(most) };
  throw atField(problem('too_many_readings', words), field);
}

/** Whether findings were asked for a token, and none has it. The event may have other entries by now. */
function isLost({ chainId, contract, tokenId }: Token, findings: Findings): boolean {
  const asked = [...findings.values()].filter(
    (finding) =>
      finding.chainId === chainId &&
      finding.contract === contract &&
      (finding.tokenId ?? tokenId) === tokenId,
  );
  return (
    asked.length > 0 && !asked.some((finding) => 'tokenIds' in finding && finding.tokenIds?.includes(tokenId))
  );
}
