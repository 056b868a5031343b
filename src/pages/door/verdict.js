/* What a ticket is worth by what this phone knows. Pure. */

/**
 * Judges a ticket.
 * @param ticket as `readTicket` gives it
 * @param known `{ eventId, signature, isRevoked, now }`; `signature` as `checkSignature` gives it
 * @returns `valid`; `unverified` where only the service can verify; or why the ticket admits nobody
 */
export function judgeTicket(ticket, { eventId, signature, isRevoked, now }) {
  if (ticket === undefined) return 'notTicket';
  if (ticket.eventId !== eventId) return 'otherEvent';
  if (signature === 'forged' || signature === 'unknownSigner') return signature;
  if (ticket.expiresAt <= now) return 'expired';
  if (isRevoked) return 'revoked';
  return signature === 'signed' ? 'valid' : 'unverified';
}

/**
 * Folds the scans of one attendee that this phone made, as the service does: in their order, without those that were
 * taken back or that the service did not accept. An answer of the service also knows the scans of other phones.
 * @returns `{ isInside, first }`; `first` is the first entry, `{ at, gate }`, undefined where there was none
 */
export function foldScans(scans) {
  const undos = scans.filter(({ kind, refused }) => kind === 'undo' && refused === undefined);
  const undone = new Set(undos.map(({ undoes }) => undoes));
  const counted = scans.filter((scan) => isCounted(scan, undone)).sort(inOrder);
  return counted.reduce(next, { isInside: false, first: undefined });
}

const inOrder = (a, b) => (a.at === b.at ? compare(a.scanId, b.scanId) : compare(a.at, b.at));
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const accepted = ['admitted', 'already_admitted', 'exited', 'not_inside'];

function isCounted({ scanId, kind, refused, answer }, undone) {
  if (kind === 'undo' || refused !== undefined) return false;
  if (answer !== undefined && !accepted.includes(answer.status)) return false;
  // Taking this scan back does not change that somebody else admitted the guest.
  return !undone.has(scanId) || (answer !== undefined && answer.status === 'already_admitted');
}

function next({ first }, { kind, at, gate, answer }) {
  if (answer !== undefined && answer.checkedInAt !== null) {
    return { isInside: answer.inside === true, first: { at: answer.checkedInAt, gate: answer.gate } };
  }
  return { isInside: kind === 'entry', first: first || (kind === 'entry' ? { at, gate } : undefined) };
}

/**
 * Says what a scan comes to before the service answers. A phone at an exit does not know who entered elsewhere, so an
 * exit is always noted.
 */
export const localStatus = (kind, { isInside }) => {
  if (kind === 'exit') return 'exited';
  return isInside ? 'already_admitted' : 'admitted';
};
