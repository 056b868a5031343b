/* What the page says: `{ mood, headline, message }` for a claim, or for a reason why there is none. */

const closed = 'It cannot be claimed at present. Look again later, or ask whoever gave you the code.';

/** @param claim as the service answers it */
export function wordsOf({ claimStatus, isClaimable, mintError, networkName }) {
  switch (claimStatus) {
    case 'queued':
      return {
        headline: 'The claim is accepted',
        message:
          'It waits for its turn. You may close this page, and open the link again to see how far it is.',
      };
    case 'submitted':
      return {
        headline: 'On its way',
        message: `It was sent to ${networkName} and waits to be confirmed. You may close this page.`,
      };
    case 'minted':
      return {
        mood: 'good',
        headline: 'Claimed',
        message:
          'It belongs to the wallet below. If that is not yours, somebody else had the code before you.',
      };
    case 'failed':
      return {
        mood: 'bad',
        headline: 'The claim did not succeed',
        message:
          `${mintError ?? ''} ${isClaimable ? 'Nothing is lost: you may claim again.' : closed}`.trim(),
      };
    default:
      return isClaimable
        ? { headline: 'Yours to claim', message: 'Choose the wallet that shall get it.' }
        : { headline: 'Not open for claims', message: closed };
  }
}

export const incomplete = {
  mood: 'bad',
  headline: 'This link is not complete',
  message: 'Scan the code again, or open the whole link, with everything behind the #.',
};

/** Why there is nothing to show, for good or until somebody does something. Undefined for what passes by itself. */
export function reasonOf({ code, retryAfter }) {
  if (code === 'input_invalid' || code === 'secret_required' || code === 'path_malformed') return incomplete;
  if (code === 'claim_not_found' || code === 'not_found') {
    return {
      mood: 'bad',
      headline: 'This link does not work',
      message:
        'Scan the code again, or open the whole link. If it still fails, ask whoever gave you the code.',
    };
  }
  if (code !== 'secret_locked') return undefined;
  return {
    mood: 'bad',
    headline: 'Too many wrong links',
    message: `Somebody tried wrong codes for this NFT. It can be looked at again ${whenOf(retryAfter)}.`,
  };
}

/** Why a claim was not accepted. */
export function faultOf({ code, detail, retryAfter }) {
  return (
    {
      input_invalid: `This is no address that can get it: ${detail}.`,
      recipient_required: 'Type in the address of your wallet.',
      rwa_archived: closed,
      rwa_not_claimable: closed,
      minting_unsupported: closed,
      mint_quota_exceeded: `No more can be claimed today. Try again ${whenOf(retryAfter)}.`,
      secret_locked: `Somebody tried wrong codes for this NFT. Try again ${whenOf(retryAfter)}.`,
      rate_limited: `There were too many requests from here. Try again ${whenOf(retryAfter)}.`,
      unreachable: 'The service could not be reached. Check your connection, then claim again.',
    }[code] ?? 'The service cannot answer now. Wait a moment, then claim again.'
  );
}

/** `in 40 seconds`, or `at 14:32`. */
export function whenOf(seconds = 30) {
  if (seconds <= 90) return `in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  const moment = new Date(Date.now() + seconds * 1_000);
  const isToday = moment.toDateString() === new Date().toDateString();
  const style = isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' };
  return `at ${new Intl.DateTimeFormat(undefined, style).format(moment)}`;
}
