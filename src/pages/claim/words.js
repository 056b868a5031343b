/*
 * What the page says: `{ mood, headline, message }` for a claim, or for a reason why there is none. The service's own
 * words are in English and written for programs, so they are shown as an addition only.
 */

import { text, whenOf } from '../shared/texts.js';
import { short } from './copy.js';

const inTitle = (name) => text(`${name}Title`);
const say = (name, values, mood) => ({
  headline: inTitle(name),
  message: text(`${name}Text`, values),
  mood,
});

/** Whom to ask: the company by its name, where that is known. */
const whoOf = (claim) => claim?.companyName ?? text('giver');

/**
 * @param claim as the service answers it
 * @param isOurs whether this browser claimed it. Others may have the same reader: the camera of a phone opens another one
 */
export function wordsOf(claim, isOurs) {
  const { claimStatus, isClaimable, name, networkName: network } = claim;
  const who = whoOf(claim);
  const wallet = short(claim.recipient ?? '');
  if (claimStatus === 'minted') {
    return isOurs ? say('yours', { network }, 'good') : say('taken', { name, who, wallet });
  }
  if (claimStatus === 'queued' || claimStatus === 'submitted') {
    if (!isOurs) return { headline: inTitle('taken'), message: text('takenSoonText', { name, who, wallet }) };
    return say(claimStatus === 'queued' ? 'queued' : 'sent', { network });
  }
  if (claimStatus === 'failed') {
    const message = text(isClaimable ? 'failedText' : 'failedClosedText', { who });
    return { headline: inTitle('failed'), message, mood: 'bad' };
  }
  return isClaimable ? say('open', { network }) : say('closed', { who });
}

/** Where the link has not all that it needs: its own address is explained, anything else is a fault. */
export const wordsOfLink = ({ isBare }) => (isBare ? say('about') : say('incomplete', {}, 'bad'));

/** Why there is nothing to show, for good or until somebody does something. Undefined for what passes by itself. */
export function reasonOf({ code, retryAfter }) {
  if (code === 'input_invalid' || code === 'secret_required' || code === 'path_malformed') {
    return say('incomplete', {}, 'bad');
  }
  if (code === 'claim_not_found' || code === 'not_found') return say('unknown', {}, 'bad');
  if (code === 'claim_not_open') return say('notOpen', { who: text('giver') });
  return code === 'secret_locked' ? say('locked', { when: whenOf(retryAfter) }, 'bad') : undefined;
}

/** Why a claim was not accepted. */
export function faultOf({ code, retryAfter }, claim) {
  const [name, values] = {
    rwa_archived: ['closedNow', { who: whoOf(claim) }],
    rwa_not_claimable: ['closedNow', { who: whoOf(claim) }],
    minting_unsupported: ['closedNow', { who: whoOf(claim) }],
    mint_quota_exceeded: ['quota', { when: whenOf(retryAfter) }],
    secret_locked: ['lockedText', { when: whenOf(retryAfter) }],
    rate_limited: ['tooMany', { when: whenOf(retryAfter) }],
    unreachable: ['unreachable'],
  }[code] ?? ['broken'];
  return text(name, values);
}

/** What is wrong with an address that this page did not accept; see `readAddress`. */
export function addressFaultOf({ fault, values }, claim) {
  if (fault !== 'addressOtherChain') return text(fault, values);
  const { networkName: network, chainId } = claim;
  return text(fault, { network, chain: values.chain ?? text('otherNetwork', values), chainId });
}
