import { parseIsoDate } from '../../base/iso-date.ts';
import type { InputError } from '../../base/problem.ts';
import type { components } from '../../contract/generated/events.ts';
import { nameFault } from '../../contract/visible-text.ts';

type Schemas = components['schemas'];

const fault = (pointer: string, message: string): InputError => ({ in: 'body', pointer, message });
const timeForm =
  'must be an RFC 3339 date-time with offset that the calendar has, such as 2027-05-04T09:00:00Z';
const isNoTime = (text: string | undefined) => text !== undefined && parseIsoDate(text) === undefined;

/** Says what is wrong with a check-in as a whole: it has either items or scans. */
export function requestFaults({ items, scans, sentAt }: Schemas['CheckInRequest']): InputError[] {
  if (items === undefined && scans === undefined) return [fault('/items', 'items or scans is required')];
  if (items !== undefined && scans !== undefined)
    return [fault('/scans', 'scans must be absent where there are items')];
  if (items !== undefined && sentAt !== undefined)
    return [fault('/sentAt', 'sentAt must be absent where there are items')];
  return isNoTime(sentAt) ? [fault('/sentAt', `sentAt ${timeForm}`)] : [];
}

/** Says what is wrong with the form of a scan. */
export function scanFaults(scan: Schemas['CheckInScan'], index: number): InputError[] {
  const name = `scans/${index}`;
  const about = (words: string) => [fault(`/${name}`, `${name} ${words}`)];
  const aboutField = (field: keyof typeof scan, words: string) => [
    fault(`/${name}/${field}`, `${name}/${field} ${words}`),
  ];
  const { ticket, attendeeId, scanId, at, gate, kind = 'entry', undoes } = scan;
  const texts = [ticket, attendeeId].filter((text) => text !== undefined).length;
  const gateFault = gate === undefined ? undefined : nameFault(gate.trim());
  return [
    ...(kind === 'undo' && texts > 0
      ? about('must have neither ticket nor attendeeId, since it is an undo')
      : []),
    ...(kind !== 'undo' && texts !== 1 ? about('must have either ticket or attendeeId') : []),
    ...((scanId === undefined) !== (at === undefined)
      ? about('must have scanId and at, or neither of them')
      : []),
    ...(kind !== 'entry' && scanId === undefined && at === undefined
      ? about(`must have scanId and at, since it is an ${kind}`)
      : []),
    ...(kind === 'undo' && undoes === undefined ? aboutField('undoes', 'is required for an undo') : []),
    ...(kind !== 'undo' && undoes !== undefined
      ? aboutField('undoes', 'must be absent, except for an undo')
      : []),
    ...(isNoTime(at) ? aboutField('at', timeForm) : []),
    ...(gateFault === undefined ? [] : aboutField('gate', gateFault)),
  ];
}
