/* Parts of a page. Everything that is put there is text, nothing is markup. */

import { text } from './texts.js';

export const at = (id) => document.getElementById(id);

/** Fills the texts and labels that stand in a page from the beginning. */
export function showTexts() {
  document.title = text('heading');
  for (const each of document.querySelectorAll('[data-text]')) each.textContent = text(each.dataset.text);
  for (const each of document.querySelectorAll('[data-label]')) {
    each.setAttribute('aria-label', text(each.dataset.label));
  }
  at('served').textContent = text('servedBy', { operator: at('served').dataset.operator });
}

/** Puts words into an element. Screen readers say the words again only when they change. */
export function setText(id, words) {
  if (at(id).textContent !== words) at(id).textContent = words;
}

/** Replaces the children of an element. Chrome 85 has no replaceChildren. */
export function fill(parent, children) {
  parent.textContent = '';
  parent.append(...children);
}

/** Puts the focus on what is not a field or button. */
export function focusOn(id) {
  at(id).tabIndex = -1;
  at(id).focus();
}
