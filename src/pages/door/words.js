/* What the page says. The service's own words are in English and written for programs, so they are not shown. */

import { text, timeOf } from '../shared/texts.js';

const say = (name, mood) => ({ mood, headline: text(`${name}Title`), message: text(`${name}Text`) });

/** Why this phone admits nobody by a code. */
const reasons = {
  notTicket: 'reasonNotTicket',
  otherEvent: 'reasonOtherEvent',
  forged: 'reasonForged',
  unknownSigner: 'reasonUnknownSigner',
  expired: 'reasonExpired',
  revoked: 'reasonRevoked',
};

/**
 * The words for a result of a scan.
 * @param result as a door gives it
 * @returns `{ mood, sign, headline, message }`
 */
export function wordsOfResult(result) {
  const words = saidOf(result);
  return { ...words, sign: signs[words.mood] };
}

// Not by the color alone.
const signs = { good: '✓', warn: '!', bad: '✕' };

function saidOf({ status, reason, first }) {
  switch (status) {
    case 'admitted':
      return say('admitted', 'good');
    case 'already_admitted':
      return { mood: 'warn', headline: text('alreadyTitle'), message: whenAndWhere(first) };
    case 'exited':
      return say('exited', 'good');
    case 'not_inside':
      return say('notInside', 'warn');
    case 'undone':
      return say('undone', 'warn');
    case 'not_undone':
      return say('notUndone', 'bad');
    case 'ticket_required':
      return say('ticketRequired', 'bad');
    case 'no_longer_eligible':
      return say('notEligible', 'bad');
    case 'clock_wrong':
      return say('clockWrong', 'bad');
    case 'unverified':
      return say('unverified', 'bad');
    case 'unknown':
      return {
        mood: 'bad',
        headline: text('unknownTitle'),
        message: text(reasons[reason] || 'reasonService'),
      };
    default:
      return say('rejected', 'bad');
  }
}

function whenAndWhere(first) {
  if (first === undefined) return text('alreadyUnknown');
  const when = timeOf(first.at);
  return first.gate ? text('alreadyAt', { when, gate: first.gate }) : text('alreadyWhen', { when });
}

/** What is said of an address without all that it needs, of a key that opens nothing, and of a phone that keeps nothing. */
export const wordsOfStop = {
  incomplete: () => say('incomplete', 'bad'),
  noStore: () => say('noStore', 'bad'),
  firstTime: () => say('firstTime', 'bad'),
  refused: ({ refusal }) => (refusal === 'event_not_found' ? say('gone', 'bad') : say('refused', 'bad')),
};

/** Whether the service can be reached, how many scans wait, and how many it refused. */
export function wordsOfState({ isReached, refusal, waiting, refused }) {
  const ofWaiting = waiting === 0 ? 'allSent' : waiting === 1 ? 'oneWaits' : 'manyWait';
  const reach = refusal !== undefined ? 'nothingSent' : isReached === false ? 'offline' : 'online';
  const said = `${text(reach)} ${text(ofWaiting, { count: waiting })}`;
  if (refused === 0) return said;
  return `${said} ${text(refused === 1 ? 'oneRefused' : 'manyRefused', { count: refused })}`;
}
