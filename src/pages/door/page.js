/*
 * The page of a person who scans at a door. The key of the event is in the fragment, which browsers send to nobody. It
 * stays there and is stored nowhere. Scans are stored on the phone, and sent when the service can be reached.
 *
 * Written for Safari 14, Chrome and Edge 85, Firefox 79: their syntax and functions, and no newer ones.
 */

import { at, showTexts } from '../shared/elements.js';
import { keepForOffline } from '../shared/offline.js';
import { loadTexts } from '../shared/texts.js';
import { createApi } from './api.js';
import { openCamera, watchCodes } from './camera.js';
import { createDetector } from './detector.js';
import { createDoor } from './door.js';
import { gateOf, readLink, writeLink } from './link.js';
import { resultOf } from './result.js';
import { saveFile } from './saved-file.js';
import { scansAsCsv, scansAsJson } from './scan-form.js';
import { createSight } from './sight.js';
import { createSignals } from './signals.js';
import { openStore } from './store.js';
import {
  offerToLookAgain,
  showCamera,
  showChecking,
  showCorrection,
  showRecent,
  showResult,
  showScanner,
  showState,
  showStop,
} from './view.js';
import { wordsOfStop } from './words.js';

document.documentElement.dataset.started = '';

const refreshMs = 60_000;
const mostRecent = 10;

let held = readLink(location.hash);
let store;
let door;
let camera;
/** Reads codes. It is loaded with the page, since the connection may be gone when the camera starts. */
let detecting;
let signal = () => {};
/** The result that is shown, with the scan that a tap takes back. */
let shown;
/** How many scans waited when the list was shown. */
let waiting = 0;
let turn = Promise.resolve();
let isJudging = false;
const sight = createSight();

/** Runs scans one after the other, so that each result is seen. Where one cannot be stored, nobody is admitted. */
function inTurn(work) {
  turn = turn.then(work).catch(() => {
    stopCamera();
    showStop(wordsOfStop.noStore());
  });
  return turn;
}

const judge = (code, isTyped) =>
  inTurn(async () => {
    isJudging = true;
    try {
      showChecking();
      shown = await door.scan(code, { kind: held.kind, gate: held.gate, isTyped });
      signal(showResult(shown));
    } finally {
      isJudging = false;
      sight.calm(performance.now());
    }
    await showLast();
  });

const see = (code) => sight.see(code, performance.now(), isJudging) && judge(code, false);

const undo = (scan) =>
  inTurn(async () => {
    await door.undo(scan);
    shown = { status: 'undone', scan: { ...scan, isUndone: true } };
    showResult(shown);
    await showLast();
  });

async function showLast() {
  const scans = await store.listRecent(held.eventId, 2 * mostRecent);
  const results = scans.filter(({ kind }) => kind !== 'undo').map(resultOf);
  showRecent(results.slice(0, mostRecent), undo);
}

function correct(scan) {
  const result = resultOf(scan);
  // An undo is shown with the scan that it takes back.
  if (shown !== undefined && shown.scan !== undefined && shown.scan.scanId === (scan.undoes || scan.scanId)) {
    shown = result;
    signal(showResult(result));
  } else {
    showCorrection(result);
    signal('bad');
  }
  void showLast();
}

function stateChanged(state, event) {
  showState(state);
  // The list says of each scan whether it was sent.
  if (state.waiting !== waiting) void showLast();
  waiting = state.waiting;
  if (state.refusal !== undefined) {
    stopCamera();
    showStop(wordsOfStop.refused(state));
    offerToLookAgain(true);
  } else if (event?.door && at('scanner').hidden) {
    showScanner(event.door);
  }
}

function stopCamera() {
  if (camera) camera.close();
  camera = undefined;
  showCamera(false);
}

async function startCamera() {
  signal = createSignals();
  const opened = await openCamera(at('video'));
  showCamera(opened.fault === undefined, opened.fault);
  if (opened.fault !== undefined) return;
  camera = opened;
  try {
    const detect = await detecting.catch(() => createDetector());
    await watchCodes(at('video'), {
      detect,
      onCode: see,
      mayGoOn: () => camera === opened && opened.isOpen(),
    });
    // The browser took the camera away, for a call for example.
    if (camera === opened) stopCamera();
  } catch {
    stopCamera();
    showCamera(false, 'cameraNoCodes');
  }
}

/** Keeps the gate and the direction in the address, so that a reload goes on with them. */
function keepPlace(changes) {
  held = { ...held, ...changes };
  history.replaceState(null, '', writeLink(held));
}

async function save(name, type, write) {
  saveFile(name, type, write(await store.listUnaccepted(held.eventId)));
}

function listen() {
  at('start').addEventListener('click', startCamera);
  at('undo').addEventListener('click', () => shown?.scan && undo(shown.scan));
  at('typed').addEventListener('submit', (event) => {
    event.preventDefault();
    const typed = at('text').value;
    at('text').value = '';
    if (typed.trim() !== '') void judge(typed, true);
  });
  at('place').addEventListener('submit', (event) => event.preventDefault());
  at('gate').addEventListener('change', () => {
    keepPlace({ gate: gateOf(at('gate').value) });
    at('gate').value = held.gate;
  });
  for (const each of document.getElementsByName('kind')) {
    each.addEventListener('change', () => keepPlace({ kind: each.value }));
  }
  at('again').addEventListener('click', lookAgain);
  addEventListener('online', lookAgain);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && lookAgain());
  setInterval(() => document.visibilityState === 'visible' && lookAgain(), refreshMs);
}

/** Reads what is new, and sends what waits. */
async function lookAgain() {
  offerToLookAgain(false);
  if (await door.refresh()) await door.send();
  else offerToLookAgain(at('scanner').hidden);
}

async function keyDigestOf(key) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function begin() {
  at('gate').value = held.gate;
  for (const each of document.getElementsByName('kind')) each.checked = each.value === held.kind;
  const { eventId, key } = held;
  door = createDoor({
    eventId,
    keyDigest: await keyDigestOf(key),
    store,
    api: createApi(held),
    onState: stateChanged,
    onCorrected: correct,
  });
  const isKnown = await door.open();
  detecting = createDetector();
  // Said where the camera starts.
  detecting.catch(() => {});
  listen();
  if (isKnown) await showLast();
  await lookAgain();
  if (!isKnown && at('scanner').hidden && at('card').dataset.mood !== 'bad')
    showStop(wordsOfStop.firstTime());
}

/** Without a link nothing is scanned or sent. What this phone has can be saved. */
async function explainLink() {
  showStop(wordsOfStop.incomplete());
  const scans = await store.listUnaccepted();
  at('export').hidden = scans.length === 0;
}

async function start() {
  await loadTexts((language) => import(`./text-${language}.js`));
  showTexts();
  // A release that comes while nobody scans is used at once.
  void keepForOffline('door', () => camera === undefined && location.reload());
  try {
    store = await openStore();
    await store.forgetOldEvents(Date.now());
  } catch {
    return showStop(wordsOfStop.noStore());
  }
  if (navigator.storage?.persist) void navigator.storage.persist();
  at('export-csv').addEventListener('click', () => save('scans.csv', 'text/csv', scansAsCsv));
  at('export-json').addEventListener('click', () => save('scans.json', 'application/json', scansAsJson));
  if (held.key === undefined) await explainLink();
  else await begin();
}

// Another link that is opened in the same tab changes nothing but the fragment.
addEventListener('hashchange', () => location.reload());
start().catch(() => window.sayNotStarted());
