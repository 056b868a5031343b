/* What a scan comes to: on this phone, and by the answer of the service. Pure. */

import { foldScans, localStatus } from './verdict.js';

/** What a scan comes to on this phone, and the label that an earlier answer gave its guest. */
export function localResult({ kind, label }, earlier) {
  const before = foldScans(earlier);
  const known = earlier.find((scan) => scan.label !== undefined);
  return {
    label: label === undefined && known !== undefined ? known.label : label,
    shown: { status: localStatus(kind, before), first: before.first },
  };
}

/**
 * What is known of a stored scan: by the answer of the service, or else by this phone.
 * @returns `{ status, scan, first, isSent }`; `first` is the first entry of the guest, `{ at, gate }`
 */
export function resultOf(scan) {
  const { answer, shown, kind, refused } = scan;
  if (refused !== undefined)
    return { status: kind === 'undo' ? 'not_undone' : 'rejected', scan, isSent: true };
  if (answer === undefined) return { ...shown, scan, isSent: false };
  const first = answer.checkedInAt === null ? undefined : { at: answer.checkedInAt, gate: answer.gate };
  return { status: answer.status, scan, first, isSent: true };
}

/** Whether the service answered something else than the page has shown. A phone at an exit knows of no entries. */
export function isCorrected({ kind, isUndone, answer, shown, refused }) {
  if (kind === 'undo' || isUndone) return false;
  return refused !== undefined || (answer.status !== shown.status && answer.status !== 'not_inside');
}

// Sending such a scan again does not help, so it stays on the phone for the organiser.
const refusals = ['at_out_of_range', 'too_many_scans', 'scan_id_reused', 'undo_of_undo'];

/** Returns what changes of a stored scan that the service refuses for good. `refused` is the code that says why. */
export const refusedBy = (refused) => ({ refused, waits: undefined, isProvisional: undefined });

/** Returns what the answer of the service changes of a stored scan. The ticket itself is not needed any more. */
export function changeBy({ status, checkedInAt, checkedInGate, label, inside, ...item }, { attendeeId }) {
  if (refusals.includes(status)) return refusedBy(status);
  return {
    attendeeId: item.attendeeId || attendeeId,
    ...(label === null ? {} : { label }),
    answer: { status, checkedInAt, gate: checkedInGate, inside },
    waits: undefined,
    ticket: undefined,
    isProvisional: undefined,
  };
}
