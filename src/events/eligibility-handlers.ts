import { inputInvalid } from '../base/errors.ts';
import { parseAddress } from '../chain/address.ts';
import { networkNotFound } from '../chain/networks.ts';
import type { operations } from '../contract/generated/events.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import { readHoldings } from './admission.ts';
import { decimalsOf } from './currencies.ts';
import { insertChallenge } from './eligibility/challenge-store.ts';
import { type ChallengePlace, challengeText } from './eligibility/challenge-text.ts';
import type { HoldingsReader } from './eligibility/holdings.ts';
import { judgeWallet } from './eligibility/judge.ts';
import { priceFor } from './eligibility/price.ts';
import { blocksOf, blockToApi, entryToApi } from './eligibility/to-api.ts';
import { findUsedTokens } from './eligibility/token-store.ts';
import { existing, type Networks } from './event-rules.ts';
import { findEvent } from './event-store.ts';

type Parts = {
  readonly db: Database;
  readonly networks: Networks;
  readonly holdings: HoldingsReader;
  readonly place: ChallengePlace;
};

type EligibilityOperations = Pick<operations, 'getEligibility' | 'createChallenge'>;

/** What wallets may do at events, and how they prove whose they are. */
export function createEligibilityHandlers({
  db,
  networks,
  holdings,
  place,
}: Parts): Handlers<EligibilityOperations, CompanyContext> {
  return {
    async getEligibility({ path: { eventId }, query }, { companyId }) {
      const wallet = parseAddress(query.wallet, { in: 'query', name: 'wallet' });
      const event = existing(await findEvent(db, companyId, eventId));
      const findings = await readHoldings(holdings, event, wallet, null);
      const used = await findUsedTokens(db, event.id, findings);
      const { attend, discount, getsDiscount, admission } = judgeWallet(event, findings, used, false);
      const price = priceFor(event, getsDiscount, decimalsOf(event.currency));
      const body = {
        eventId: event.id,
        wallet: wallet.checksum,
        mayAttend: typeof admission !== 'string' || admission === 'token_ids_required',
        getsDiscount,
        price: price === null ? null : Number(price),
        currency: event.currency,
        attend: attend.map(entryToApi),
        discount: discount.map(entryToApi),
        blocks: blocksOf(findings).map(blockToApi),
      };
      return { status: 200, body };
    },

    async createChallenge({ path: { eventId }, body }, { companyId }) {
      const { checksum: wallet } = parseAddress(body.wallet, { in: 'body', pointer: '/wallet' });
      const event = existing(await findEvent(db, companyId, eventId));
      const chainId = typeof body.chainId === 'number' ? String(body.chainId) : event.chainId;
      if (chainId === null) {
        const message = 'chainId is required, since the event has none';
        throw inputInvalid([{ in: 'body', pointer: '/chainId', message }]);
      }
      if ((await networks.find(chainId)) === undefined) throw networkNotFound(chainId);
      const challenge = await insertChallenge(db, { companyId, eventId: event.id, wallet, chainId });
      const { nonce, issuedAt, expiresAt } = challenge;
      const message = challengeText(place, challenge);
      const times = { issuedAt: issuedAt.toISOString(), expiresAt: expiresAt.toISOString() };
      return { status: 200, body: { message, nonce, ...times } };
    },
  };
}
