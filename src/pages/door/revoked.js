/* The revoked tickets of an event, of which this phone stores what it has read. */

/** Reads the revoked tickets that are new. @returns the last answer of the service */
export async function readRevoked({ eventId, store, api }) {
  for (;;) {
    const { revokedCursor } = await store.readEvent(eventId);
    const answer = await api.readRevoked(revokedCursor);
    // The service does not know this place in the list any more, so the list is read from its beginning.
    if (answer.code === 'input_invalid' && revokedCursor !== '') {
      await store.addRevoked(eventId, [], '');
      continue;
    }
    if (answer.body === undefined) return answer;
    const ticketIds = answer.body.tickets.map(({ ticketId }) => ticketId);
    await store.addRevoked(eventId, ticketIds, answer.body.cursor);
    if (!answer.body.hasMore) return answer;
  }
}
