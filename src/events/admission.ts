import { problem } from '../base/errors.ts';
import { type Address, parseAddress } from '../chain/address.ts';
import type { components } from '../contract/generated/events.ts';
import type { CompanyContext } from '../contract/operation.ts';
import type { Tx } from '../contract/transaction.ts';
import { inRounds, type Lacks } from '../db/connection/rounds.ts';
import { recordByKey } from '../db/records/audit-store.ts';
import { hasAttendee, insertAdmitted } from './attendee-store.ts';
import { decimalsOf } from './currencies.ts';
import { consumeChallenge } from './eligibility/challenge-store.ts';
import type { ChallengePlace } from './eligibility/challenge-text.ts';
import type { Findings, HoldingsReader } from './eligibility/holdings.ts';
import { judgeWallet } from './eligibility/judge.ts';
import { priceFor } from './eligibility/price.ts';
import { checkProof, type Proof, proofInvalid } from './eligibility/proof.ts';
import { changesTooOften, type ReaderParts } from './eligibility/read-network.ts';
import { blocksOf } from './eligibility/to-api.ts';
import { findUsedTokens } from './eligibility/token-store.ts';
import type { EventRecord } from './event.ts';
import { atField, existing, refuseFaults } from './event-rules.ts';
import { findEvent, lockEvent } from './event-store.ts';
import { attendeeToApi } from './to-api.ts';

type Request = {
  readonly eventId: string;
  readonly attendeeId: string;
  readonly label: string | null;
  readonly wallet: string;
  readonly proof: Proof | null;
  /** That are to admit the user; null for any. */
  readonly tokenIds: readonly string[] | null;
};

type Created = { readonly status: 201; readonly body: components['schemas']['Attendee'] };

/** Registers users with wallets. */
export type Admissions = { admit(request: Request, context: CompanyContext): Promise<Created> };

type Parts = ReaderParts & { readonly holdings: HoldingsReader; readonly place: ChallengePlace };

/** The reading of the chains for an event as it was then. */
type Reading = { readonly version: number; readonly findings: Findings; readonly nonce: string | undefined };

/** Admits users with wallets. One transaction decides on places, requirements, tokens and the proof. */
export function createAdmissions(parts: Parts): Admissions {
  return {
    async admit(request, context) {
      const wallet = parseAddress(request.wallet, { in: 'body', pointer: '/wallet' });
      assertTokenIds(request.tokenIds ?? []);
      const asked = { ...request, wallet, companyId: context.companyId };
      const attempt = (reading: Reading | undefined, lacks: Lacks<Reading>): Promise<Created> =>
        context.once(async (tx) => {
          const attendee = await decide(tx, asked, reading, (event) =>
            lacks(() => readFor(parts, event, asked)),
          );
          const { attendeeId, eventId: subject, companyId } = asked;
          const details = { attendeeId, wallet: wallet.checksum };
          await recordByKey(tx, { action: 'attendee.add', companyId, subject, details }, context.origin);
          return { status: 201, body: attendeeToApi(attendee) } as const;
        });
      return inRounds(attempt, changesTooOften);
    },
  };
}

/** @throws ProblemError `input_invalid` for ids that no token can have, and that no node could be asked about */
function assertTokenIds(tokenIds: readonly string[]): void {
  const faults = tokenIds.flatMap((id, index) =>
    BigInt(id) < 2n ** 256n
      ? []
      : [{ in: 'body' as const, pointer: `/tokenIds/${index}`, message: 'a token id has at most 256 bits' }],
  );
  refuseFaults(faults);
}

type Asked = Omit<Request, 'wallet'> & { readonly wallet: Address; readonly companyId: string };

/** @throws `unread` without a reading of the event as it is; ProblemError when the user is not admitted */
async function decide(
  tx: Tx,
  asked: Asked,
  reading: Reading | undefined,
  unread: (event: EventRecord) => Error,
) {
  const { companyId, eventId, wallet, tokenIds } = asked;
  const find = reading === undefined ? findEvent : lockEvent;
  const event = existing(await find(tx, companyId, eventId));
  if (await hasAttendee(tx, asked)) throw problem('attendee_already_invited');
  if (event.maxAttendees !== null && event.totalAttendees >= event.maxAttendees) throw problem('event_full');
  if (reading === undefined || reading.version !== event.version) throw unread(event);
  const { findings, nonce } = reading;
  const used = await findUsedTokens(tx, event.id, findings);
  const { admission: tokens, getsDiscount } = judgeWallet(event, findings, used, tokenIds !== null);
  if (typeof tokens === 'string') throw rejection(tokens);
  if (nonce !== undefined && !(await consumeChallenge(tx, companyId, nonce))) throw proofInvalid();
  const price = priceFor(event, getsDiscount, decimalsOf(event.currency));
  return insertAdmitted(tx, asked, { wallet: wallet.checksum, price, blocks: blocksOf(findings), tokens });
}

function rejection(code: 'wallet_not_eligible' | 'tokens_used' | 'token_ids_required') {
  return code === 'token_ids_required' ? atField(problem(code), '/tokenIds') : problem(code);
}

async function readFor(
  parts: Parts,
  event: EventRecord,
  { companyId, wallet, proof, tokenIds }: Asked,
): Promise<Reading> {
  if (event.proofRequired && proof === null) throw atField(problem('proof_required'), '/proof');
  const claim = proof && { companyId, eventId: event.id, wallet, proof };
  const nonce = claim === null ? undefined : await checkProof(parts, parts.place, claim);
  const findings = await readHoldings(parts.holdings, event, wallet, tokenIds);
  return { version: event.version, findings, nonce };
}

/** Reads what a wallet owns of the entries of an event. */
export function readHoldings(
  holdings: HoldingsReader,
  event: EventRecord,
  wallet: Address,
  tokenIds: readonly string[] | null,
): Promise<Findings> {
  const named = tokenIds && [...new Set(tokenIds.map((id) => BigInt(id).toString()))];
  const tokens = event.oneAdmissionPerToken ? (named ?? 'listed') : 'uncounted';
  return holdings.read({ event, discounts: true, wallet, tokens });
}
