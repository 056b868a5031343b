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
  const { answer, shown, fault } = scan;
  if (fault !== undefined) return { status: 'rejected', scan, isSent: true };
  if (answer === undefined) return { ...shown, scan, isSent: false };
  const first = answer.checkedInAt === null ? undefined : { at: answer.checkedInAt, gate: answer.gate };
  return { status: answer.status, scan, first, isSent: true };
}

/** Whether the service answered something else than the page has shown. A phone at an exit knows of no entries. */
export const isCorrected = ({ kind, isUndone, answer, shown }) =>
  kind !== 'undo' && !isUndone && answer.status !== shown.status && answer.status !== 'not_inside';

/** Returns what the answer of the service changes of a stored scan. The ticket itself is not needed any more. */
export function changeBy({ status, checkedInAt, checkedInGate, label, inside, ...item }, { attendeeId }) {
  return {
    attendeeId: item.attendeeId || attendeeId,
    ...(label === null ? {} : { label }),
    answer: { status, checkedInAt, gate: checkedInGate, inside },
    waits: undefined,
    ticket: undefined,
    isProvisional: undefined,
  };
}
