/* Puts what the page says on the screen. Everything is text, nothing is markup. */

import { at, fill, setText } from '../shared/elements.js';
import { text, timeOf } from '../shared/texts.js';
import { wordsOfResult, wordsOfState } from './words.js';

/** Shows why there is no scanner. @param words `{ mood, headline, message }` */
export function showStop({ mood, headline, message }) {
  at('scanner').hidden = true;
  at('card').hidden = false;
  at('card').dataset.mood = mood;
  setText('headline', headline);
  setText('message', message);
}

export function offerToLookAgain(isOffered) {
  at('again').hidden = !isOffered;
}

/** Shows the scanner of an event. */
export function showScanner({ name, acceptsIds }) {
  document.title = text('title', { name });
  setText('name', name);
  at('card').hidden = true;
  at('scanner').hidden = false;
  setText('text-label', text(acceptsIds ? 'typedId' : 'typedTicket'));
}

export function showState(state) {
  setText('state', wordsOfState(state));
  at('state').dataset.mood =
    state.refusal !== undefined || state.refused > 0 ? 'bad' : state.isReached === false ? 'warn' : 'good';
  const isSending = state.isReached !== false && state.refusal === undefined;
  at('export').hidden = state.refused === 0 && (state.waiting === 0 || isSending);
}

/** Shows what the camera does. @param fault the name of a text, where it does not run */
export function showCamera(isOpen, fault) {
  at('video').hidden = !isOpen;
  at('start').hidden = isOpen;
  setText('camera-fault', fault === undefined ? '' : text(fault));
}

// Names of guests and gates may come from a long text.
const longestName = 80;
const shortened = (name) =>
  [...name].length > longestName ? `${[...name].slice(0, longestName).join('')}…` : name;

/** The guest of a scan: the label that the organiser gave, or else the user ID. */
const whoOf = (scan) => (scan === undefined ? '' : shortened(scan.label || scan.attendeeId));

export function showChecking() {
  showWords({ mood: '', sign: '', headline: text('checking'), message: '' }, '', '');
  at('undo').hidden = true;
}

/** Shows a result, and offers to take it back. @returns its mood */
export function showResult(result) {
  const words = wordsOfResult(result);
  showWords(words, whoOf(result.scan), result.isSent === false ? text('notSent') : '');
  at('undo').hidden = !mayUndo(result);
  return words.mood;
}

function showWords({ mood, sign, headline, message }, who, note) {
  at('result').hidden = false;
  at('result').dataset.mood = mood;
  setText('result-sign', sign);
  setText('result-headline', headline);
  setText('result-who', who);
  setText('result-message', message);
  setText('result-note', note);
}

const undoable = ['admitted', 'already_admitted', 'exited', 'not_inside'];
const mayUndo = ({ status, scan }) => scan !== undefined && !scan.isUndone && undoable.includes(status);

const mostCorrections = 5;

/** Says that the service answered something else than was shown. */
export function showCorrection(result) {
  const { headline, message } = wordsOfResult(result);
  const item = document.createElement('p');
  item.textContent = text('correction', { who: whoOf(result.scan), headline, message });
  const earlier = [...at('corrections').children].slice(0, mostCorrections - 1);
  fill(at('corrections'), [item, ...earlier]);
}

/**
 * Shows the last scans.
 * @param results of scans, newest first
 * @param onUndo called with the scan whose button is pressed
 */
export function showRecent(results, onUndo) {
  at('recent').hidden = results.length === 0;
  fill(
    at('scans'),
    results.map((result) => itemOf(result, onUndo)),
  );
}

function itemOf(result, onUndo) {
  const { scan } = result;
  const item = document.createElement('li');
  const who = document.createElement('bdi');
  who.textContent = whoOf(scan);
  const said = scan.isUndone ? text('undoneTitle') : wordsOfResult(result).headline;
  const sent = scan.waits === 1 ? ` · ${text('waits')}` : '';
  item.append(who, ` · ${timeOf(scan.at)} · ${said}${sent}`);
  if (mayUndo(result)) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'plain';
    button.textContent = text('undo');
    button.setAttribute('aria-label', text('undoWhat', { who: whoOf(scan) }));
    button.addEventListener('click', () => onUndo(scan));
    item.append(button);
  }
  return item;
}
