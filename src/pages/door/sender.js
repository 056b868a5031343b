/*
 * Sends the scans that wait. A scan goes out again with the same id until it was answered, so nothing counts twice. The
 * newest scans go first: their guests stand at the door, and the service does not mind the order.
 */

import { isRefusal } from './api.js';
import { sentForm } from './scan-form.js';

const mostAtOnce = 100;
// The service takes 100 kB.
const mostCharacters = 60_000;
const firstWaitMs = 2_000;
const longestWaitMs = 60_000;
// Each of so many scans by itself got no answer: the others are tried later.
const mostSkipped = 5;

// A part of such scans may be accepted.
const faultsOfBody = ['input_invalid', 'body_too_large', 'too_many_readings'];

/**
 * Creates what sends the scans of an event.
 * @param parts `{ eventId, store, checkIn, maySend, onAnswered, onRejected, onStopped }`; nothing is sent unless `maySend()`.
 * `onAnswered` gets the scans and the answer of a request, `onRejected` a scan that the service does not accept at all and
 * the code, and `onStopped` the answer that ended the sending
 * @returns a function that sends, and again later where no answer came
 */
export function createSender({ maySend, onStopped, ...parts }) {
  let isRunning = false;
  let isWanted = false;
  let timer;
  let waitMs = firstWaitMs;

  async function send() {
    clearTimeout(timer);
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isWanted && maySend()) {
        isWanted = false;
        const stopped = await sendAll(parts);
        if (stopped === undefined) waitMs = firstWaitMs;
        else return stop(stopped);
      }
    } finally {
      isRunning = false;
    }
  }

  async function stop(stopped) {
    if (!isRefusal(stopped)) sendLater(stopped.retryAfter);
    await onStopped(stopped);
  }

  function sendLater(seconds) {
    timer = setTimeout(send, seconds === undefined ? waitMs : seconds * 1_000);
    waitMs = Math.min(longestWaitMs, waitMs * 2);
  }

  return send;
}

/** Sends until nothing waits. @returns the answer that stopped it; undefined where nothing waits any more */
async function sendAll({ eventId, store, checkIn, onAnswered, onRejected }) {
  const skipped = new Map();
  let most = mostAtOnce;
  for (;;) {
    const waiting = await store.listWaiting(eventId, mostAtOnce + skipped.size);
    const scans = fitting(waiting.filter(({ scanId }) => !skipped.has(scanId)).slice(0, most));
    if (scans.length === 0) return [...skipped.values()][0];
    const answer = await checkIn(scans.map(sentForm));
    const { body, code } = answer;
    if (body !== undefined && body.items.length === scans.length) {
      await onAnswered(scans, body);
      most = mostAtOnce;
    } else if (scans.length > 1 && (faultsOfBody.includes(code) || code === 'eligibility_unavailable')) {
      most = Math.ceil(scans.length / 2);
    } else if (faultsOfBody.includes(code)) {
      // This scan alone is at fault. It must not keep the others from being sent.
      await onRejected(scans[0], code);
    } else if (code === 'eligibility_unavailable' && skipped.size < mostSkipped) {
      skipped.set(scans[0].scanId, answer);
    } else {
      return answer.code === undefined ? { code: 'unreachable' } : answer;
    }
  }
}

/** As many of the scans, from the first on, as a request may have. */
function fitting(scans) {
  let characters = 0;
  return scans.filter((scan, index) => {
    characters += JSON.stringify(sentForm(scan)).length;
    return index === 0 || characters <= mostCharacters;
  });
}
