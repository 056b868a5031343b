/* Judges a code by what this phone has stored. */

import { findTicket, readTicket } from '../shared/ticket.js';
import { checkSignature } from './signature.js';
import { judgeTicket } from './verdict.js';

/**
 * Judges a code.
 * @param known `{ eventId, keys, store, now }`
 * @returns `{ verdict, ticket, text }`; `verdict` as `judgeTicket` gives it
 */
export async function judgeCode(code, { eventId, keys, store, now }) {
  const text = findTicket(code);
  const ticket = text === undefined ? undefined : readTicket(text);
  if (ticket === undefined) return { verdict: 'notTicket' };
  const signature = await checkSignature(ticket, keys);
  const isRevoked = await store.isRevoked(eventId, ticket.ticketId);
  return { verdict: judgeTicket(ticket, { eventId, signature, isRevoked, now }), ticket, text };
}
