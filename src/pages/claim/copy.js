/* Long values: shown short, copied whole. */

import { text } from '../shared/texts.js';

/** `0x1234…abcd`; what is short already stays as it is. */
export const short = (whole) => (whole.length <= 16 ? whole : `${whole.slice(0, 6)}…${whole.slice(-4)}`);

const shownMs = 2_500;

/** Copies the value next to a button, and says so. Where the browser copies nothing, the whole value can be selected. */
export async function showCopied(button) {
  const place = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(place.dataset.whole);
  } catch {
    // Pages without https have no clipboard.
    place.textContent = place.dataset.whole;
    getSelection().selectAllChildren(place);
    return;
  }
  const said = document.getElementById('copied');
  const label = text('copyWhat', { what: text(button.dataset.what) });
  const show = (words, name, spoken) => {
    button.textContent = words;
    button.setAttribute('aria-label', name);
    said.textContent = spoken;
  };
  show(text('copied'), text('copied'), text('copied'));
  setTimeout(() => show(text('copy'), label, ''), shownMs);
}
