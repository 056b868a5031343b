/*
 * The link to this page. Pure: the browser gives the fragment of its address. It has the ticket and what the guest reads
 * of the event, so no server is asked.
 */

import { decode, invisible } from '../shared/fragment.js';
import { findTicket, readTicket } from '../shared/ticket.js';

// As long as the service lets names and places be shown.
const longestText = 200;

/**
 * Reads a fragment, such as `#<ticket>&name=Spring%20fair&start=2027-05-04T09:00:00.000Z&place=Hall%203`.
 * @returns `{ ticket, expiresAt, guest, name, start, end, place }`, without what is missing; `{}` where the ticket is
 */
export function readLink(hash) {
  const [first, ...more] = hash.slice(1).split('&');
  const ticket = findTicket(decode(first).replace(invisible, ''));
  const claims = ticket === undefined ? undefined : readTicket(ticket);
  if (claims === undefined) return {};
  const parts = new Map(
    more.map((part) => [part.slice(0, part.indexOf('=')), decode(part.slice(part.indexOf('=') + 1))]),
  );
  return {
    ticket,
    expiresAt: claims.expiresAt,
    guest: shortened(claims.label),
    name: shortened(parts.get('name')),
    start: momentIn(parts.get('start')),
    end: momentIn(parts.get('end')),
    place: shortened(parts.get('place')),
  };
}

function shortened(text = '') {
  const characters = [...text.trim()];
  if (characters.length === 0) return undefined;
  return characters.length > longestText
    ? `${characters.slice(0, longestText).join('')}…`
    : characters.join('');
}

const momentIn = (text = '') => {
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
};
