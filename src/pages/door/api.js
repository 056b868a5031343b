/* The operations that a door needs. The key goes into a header only. `ask` says what an answer is. */

import { ask } from '../shared/ask.js';

const mostRevoked = 200;

/** The operations of an event with a key. */
export function createApi({ key, eventId }) {
  const headers = { 'x-api-key': key };
  const event = `events/v1/api/event/${eventId}`;
  return {
    readDoor: () => ask('GET', `${event}/door`, { headers }),
    readRevoked: (after) => {
      const place = after === '' ? '' : `&after=${encodeURIComponent(after)}`;
      return ask('GET', `${event}/tickets/revoked?limit=${mostRevoked}${place}`, { headers });
    },
    checkIn: (scans) =>
      ask('POST', `${event}/checkin`, { headers, body: { scans, sentAt: new Date().toISOString() } }),
  };
}

// A proxy answers `not_found`, and release 0.2.0, which does not know the scope of the key, `insufficient_scope`.
const refusals = ['api_key_invalid', 'api_key_missing', 'company_required', 'event_not_found'];

/** Whether an answer says that the key does not open this door any more. */
export const isRefusal = ({ code }) => refusals.includes(code);
