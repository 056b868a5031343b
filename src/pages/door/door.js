/*
 * A door: it judges what is scanned by what this phone knows, stores each scan before it says anything, and corrects
 * itself by what the service answers. The page shows what comes of it.
 */

import { isRefusal } from './api.js';
import { createAwaited } from './awaited.js';
import { askForSkew, clockBy, clockBySkew, isSetBack, timeBy } from './clock.js';
import { judgeCode } from './judge.js';
import { changeBy, isCorrected, localResult, refusedBy, resultOf } from './result.js';
import { readRevoked } from './revoked.js';
import { createSender } from './sender.js';
import { newUuid } from './uuid.js';

// A guest waits so long for the answer of the service, which knows the scans of other phones.
const patienceMs = 2_000;
// Where only the service can say whether somebody may enter.
const longPatienceMs = 10_000;
// The service accepts no longer text.
const longestId = 2_048;

/**
 * Creates a door. `keyDigest` names the key of the link, so that a key that was refused once stays refused.
 * @param parts `{ eventId, keyDigest, store, api, onState, onCorrected, now }`
 */
export function createDoor({ eventId, keyDigest, store, api, onState, onCorrected, now = Date.now }) {
  let event;
  let state = { isReached: undefined, refusal: undefined, waiting: 0, refused: 0 };
  const awaited = createAwaited();

  const send = createSender({
    eventId,
    store,
    checkIn: (scans) => askForSkew(() => api.checkIn(scans), now),
    maySend: () => state.refusal === undefined,
    onAnswered: noteAnswers,
    onRejected: noteRejection,
    onStopped: async (stopped) => {
      await noteContact(stopped);
      awaited.giveUp();
    },
  });

  function changeState(changes) {
    state = { ...state, ...changes };
    onState(state, event);
  }

  async function countScans(changes) {
    const waiting = await store.countWaiting(eventId);
    changeState({ ...changes, waiting, refused: await store.countRefused(eventId) });
  }

  /** Notes whether the service answered, and whether it takes the key. */
  async function noteContact(answer) {
    if (isRefusal(answer)) {
      changeState({ isReached: true, refusal: answer.code });
      await store.changeEvent(eventId, { refusal: { keyDigest, code: answer.code } });
    } else {
      changeState({ isReached: answer.body !== undefined });
    }
    return answer.body;
  }

  /** Reads the event, its keys and the revoked tickets. @returns whether the service answered */
  async function refresh() {
    const askedAt = now();
    const body = await noteContact(await api.readDoor());
    if (body === undefined) return false;
    const { now: serviceTime, ...door } = body;
    const clock = clockBy(Date.parse(serviceTime), askedAt, now());
    event = await store.changeEvent(eventId, { door, ...clock, refusal: undefined });
    changeState({ refusal: undefined });
    return (await noteContact(await readRevoked({ eventId, store, api }))) !== undefined;
  }

  async function noteAnswers(scans, { items, clockSkew }) {
    const changes = scans.map((scan, index) => [scan.scanId, changeBy(items[index], scan)]);
    const answered = await store.changeScans(changes);
    const clock = clockBySkew(event, clockSkew, now());
    if (clock !== undefined) event = await store.changeEvent(eventId, clock);
    await countScans({ isReached: true });
    await tell(answered);
  }

  async function noteRejection({ scanId }, code) {
    const answered = await store.changeScans([[scanId, refusedBy(code)]]);
    await countScans();
    await tell(answered);
  }

  /** Tells who waits for scans what they came to, and corrects what was shown before. */
  async function tell(answered) {
    for (const scan of answered) {
      if (!awaited.settle(scan) && isCorrected(scan)) onCorrected(scan);
      if (scan.kind === 'undo' && scan.refused !== undefined) await tellNotUndone(scan);
    }
  }

  /** Says that a scan was not taken back. Where the scan was refused as well, it does not count anyway. */
  async function tellNotUndone(undo) {
    const [scan] = await store.changeScans([[undo.undoes, { isUndone: undefined }]]);
    if (scan.refused === undefined) onCorrected(undo);
  }

  const judge = (code) =>
    judgeCode(code, { eventId, keys: event.door.keys, store, now: timeBy(event, now()) });

  /** Judges a code. Where the service has signed with a new key, the keys are read first. */
  async function judgeByNewestKeys(code) {
    const judged = await judge(code);
    if (judged.verdict !== 'unknownSigner' || state.isReached === false || !(await refresh())) return judged;
    return judge(code);
  }

  /**
   * Scans a text.
   * @param how `{ kind, gate, isTyped }`
   * @returns as `resultOf`; or `{ status: 'unknown', reason }`, `{ status: 'unverified', scan }`, or `{ status: 'clock_wrong' }`
   */
  async function scan(scanned, { kind, gate, isTyped = false }) {
    if (isSetBack(event, now()) && state.isReached !== false) await refresh();
    if (isSetBack(event, now())) return { status: 'clock_wrong' };
    event = await store.changeEvent(eventId, { latestMs: timeBy(event, now()) });
    const { verdict, ticket, text } = await judgeByNewestKeys(scanned);
    const typed = scanned.trim();
    const isId = verdict === 'notTicket' && isTyped && event.door.acceptsIds && typed.length <= longestId;
    if (!isId && verdict !== 'valid' && verdict !== 'unverified')
      return { status: 'unknown', reason: verdict };
    const what = isId ? { typed, attendeeId: typed } : { ticket: text, attendeeId: ticket.attendeeId };
    const label = isId ? undefined : ticket.label;
    const isProvisional = verdict !== 'valid';
    const made = { ...what, label, kind, gate, isProvisional, ...newScan() };
    // With what it comes to by itself, so that a later answer can be compared.
    const stored = await store.addScan(made, (earlier) => localResult(made, earlier));
    const waitMs = isProvisional ? longPatienceMs : state.isReached ? patienceMs : 0;
    const answer = awaited.wait(stored.scanId, waitMs);
    await countScans();
    void send();
    const known = await answer;
    if (known !== undefined) return resultOf(known);
    if (!isProvisional) return resultOf(stored);
    await undo(stored);
    return { status: 'unverified', scan: stored };
  }

  function newScan() {
    const at = new Date(timeBy(event, now())).toISOString();
    return { scanId: newUuid(), eventId, at, waits: 1 };
  }

  /** Takes a scan back. A scan may still be on its way then: the service takes both in any order. */
  async function undo({ scanId: undoes, attendeeId, label, gate }) {
    await store.changeScans([[undoes, { isUndone: true, isProvisional: undefined }]]);
    await store.addScan({ kind: 'undo', undoes, attendeeId, label, gate, ...newScan() });
    await countScans();
    void send();
  }

  /** Opens the door with what this phone has. @returns whether it can judge */
  async function open() {
    const { latestMs = 0 } = (await store.readEvent(eventId)) || {};
    // By a clock that was set back, the event would be forgotten when the clock is right again.
    event = await store.changeEvent(eventId, { openedAt: Math.max(now(), latestMs) });
    const { refusal } = event;
    if (refusal !== undefined && refusal.keyDigest === keyDigest) changeState({ refusal: refusal.code });
    // Nobody saw whether these were admitted, since the page was closed before.
    const waiting = await store.listWaiting(eventId);
    for (const each of waiting) if (each.isProvisional && event.door) await undo(each);
    await countScans();
    return event.door !== undefined;
  }

  return { open, refresh, scan, undo, send };
}
