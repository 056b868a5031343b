/* The link to this page. Pure: the browser gives the fragment of its address, which has the key of the event. */

import { decode, invisible } from '../shared/fragment.js';

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
const longestGate = 64;

/**
 * Reads a fragment, such as `#k=tk_live_…&e=c49474ee-…&gate=North`.
 * @returns `{ key, eventId, gate, kind }`; without `key` and `eventId` where one of them is missing
 */
export function readLink(hash) {
  const parts = new Map(
    hash
      .slice(1)
      .split('&')
      .map((part) => [part.slice(0, part.indexOf('=')), decode(part.slice(part.indexOf('=') + 1))]),
  );
  const key = (parts.get('k') || '').replace(invisible, '');
  const eventId = (uuid.exec((parts.get('e') || '').replace(invisible, '')) || [''])[0].toLowerCase();
  const kind = parts.get('kind') === 'exit' ? 'exit' : 'entry';
  const found = { gate: gateOf(parts.get('gate') || ''), kind };
  return key === '' || eventId === '' ? found : { key, eventId, ...found };
}

/** Writes the fragment of a link, so that a reload and a bookmark go on at the same gate. */
export function writeLink({ key, eventId, gate, kind }) {
  const ofGate = gate === '' ? '' : `&gate=${encodeURIComponent(gate)}`;
  return `#k=${encodeURIComponent(key)}&e=${eventId}${ofGate}${kind === 'exit' ? '&kind=exit' : ''}`;
}

// The service accepts no text that people do not see. Within a text, emoji and some scripts need such characters.
const unseen = '[\\s\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\u2800]+';
const unseenEnds = new RegExp(`^${unseen}|${unseen}$`, 'gu');

/** The name of a gate as the service accepts it. Empty for none. */
export const gateOf = (typed) =>
  [...typed.replace(unseenEnds, '').replace(/\p{Cc}/gu, ' ')].slice(0, longestGate).join('').trim();
