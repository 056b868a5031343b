/*
 * The page of a guest with a ticket. All that it shows is in the fragment, which browsers send to nobody, and its policy
 * lets it ask no server.
 *
 * Written for Safari 14, Chrome and Edge 85, Firefox 79: their syntax and functions, and no newer ones.
 */

import { at, fill, setText, showTexts } from '../shared/elements.js';
import { keepForOffline } from '../shared/offline.js';
import { loadTexts, momentOf, text } from '../shared/texts.js';
import { createCode } from './code.js';
import { readLink } from './link.js';

document.documentElement.dataset.started = '';

const showRow = (id, words) => {
  at(`${id}-row`).hidden = words === undefined;
  setText(id, words === undefined ? '' : words);
};

async function showTicket({ ticket, expiresAt, guest, name, start, end, place }) {
  const { encodeQR } = await import(new URL('../qr/index.js', import.meta.url).href);
  fill(at('code'), [createCode(ticket, encodeQR)]);
  at('code').hidden = false;
  const isExpired = expiresAt <= Date.now();
  if (name !== undefined) document.title = text('title', { name });
  setText('event', name === undefined ? text('unnamed') : name);
  setText('message', isExpired ? text('expired') : text('showCode'));
  showRow('guest', guest);
  showRow('start', start && momentOf(start));
  showRow('end', end && momentOf(end));
  showRow('place', place);
  at('facts').hidden = [guest, start, end, place].every((each) => each === undefined);
}

async function start() {
  await loadTexts((language) => import(`./text-${language}.js`));
  showTexts();
  const link = readLink(location.hash);
  if (link.ticket === undefined) {
    setText('event', text('incompleteTitle'));
    setText('message', text('incompleteText'));
  } else {
    await showTicket(link);
  }
  if ((await keepForOffline('ticket')) && link.ticket !== undefined) setText('offline', text('offline'));
}

// Another ticket that is opened in the same tab changes nothing but the fragment.
addEventListener('hashchange', () => location.reload());
start().catch(() => window.sayNotStarted());
