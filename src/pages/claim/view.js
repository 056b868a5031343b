/* Puts what is known on the page. Everything is text, nothing is markup. */

import { at, fill, focusOn, setText, showTexts as showSharedTexts } from '../shared/elements.js';
import { momentOf, text } from '../shared/texts.js';
import { short, showCopied } from './copy.js';

const steps = ['queued', 'submitted', 'minted'];

/** Fills the texts that stand in the page from the beginning. */
export function showTexts() {
  showSharedTexts();
  for (const each of document.querySelectorAll('[data-copy]')) {
    each.setAttribute('aria-label', text('copyWhat', { what: text(each.dataset.what) }));
    each.addEventListener('click', () => showCopied(each));
  }
}

/** @param words `{ mood, headline, message }` */
export function showWords({ mood, headline, message }) {
  at('card').dataset.mood = mood ?? '';
  setText('headline', headline);
  setText('message', message);
}

/** Shows a claim. @param words `{ mood, headline, message }` */
export function showClaim(claim, words) {
  showAsset(claim);
  showWords(words);
  showSteps(claim.claimStatus);
  const isInForm =
    at('form').contains(document.activeElement) || at('confirm').contains(document.activeElement);
  if (!claim.isClaimable) showStage(undefined);
  else if (at('confirm').hidden) showStage('form');
  // The form has gone from under whoever has just used it.
  if (isInForm && !claim.isClaimable) focusOn('headline');
  showFacts(claim);
  const isSlow = claim.mintNote !== null && steps.includes(claim.claimStatus);
  showNote(isSlow ? text('slow') : '');
  showServiceWords(claim.mintError ?? claim.mintNote ?? '');
}

/** Nothing is claimed here: neither the form nor facts of before stay. */
export function showReason(words) {
  for (const id of ['form', 'confirm', 'facts', 'steps', 'service', 'add']) at(id).hidden = true;
  at('status').hidden = false;
  showNote('');
  showWords(words);
}

/** @param stage `form`, `confirm`, or undefined where nothing can be claimed */
export function showStage(stage) {
  at('form').hidden = stage !== 'form';
  at('confirm').hidden = stage !== 'confirm';
  at('status').hidden = stage === 'confirm';
}

export const isConfirming = () => !at('confirm').hidden;

/** Shows the address that would get the NFT, as the last step before the claim. */
export function showConfirm(claim, { address, hasCode }) {
  const { name, serial, networkName: network } = claim;
  at('confirm-text').textContent = text('confirmText', { name, serial, network });
  at('confirm-program').textContent = hasCode ? text('confirmProgram') : '';
  // In groups of four, which an eye compares one by one.
  const groups = ['0x', ...address.slice(2).match(/.{4}/g)].map((group) => {
    const part = document.createElement('span');
    part.textContent = group;
    return part;
  });
  fill(at('confirm-address'), groups);
  showStage('confirm');
  focusOn('confirm-title');
}

function showSteps(claimStatus) {
  const place = steps.indexOf(claimStatus);
  at('steps').hidden = place === -1;
  for (const [index, step] of steps.entries()) {
    const item = at('steps').querySelector(`[data-step=${step}]`);
    const isDone = index < place || claimStatus === 'minted';
    item.toggleAttribute('data-done', isDone);
    if (index === place && !isDone) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  }
}

function showAsset({ name, type, serial, description, imageUrl, companyName }) {
  document.title = text('title', { name });
  at('name').textContent = name;
  at('kind').textContent = type;
  at('serial').textContent = text('serial', { serial });
  at('company').textContent = companyName ? text('from', { company: companyName }) : '';
  showAbout(description ?? '');
  at('label').hidden = false;
  const picture = at('picture');
  if (imageUrl === null || picture.src === imageUrl) return;
  picture.alt = text('picture', { name });
  // A picture that does not come leaves no gap.
  picture.onload = () => {
    picture.hidden = false;
  };
  picture.onerror = () => {
    picture.hidden = true;
  };
  picture.src = imageUrl;
}

/** Shows the description. What is longer than some lines is folded, so that the form stays in sight. */
function showAbout(words) {
  if (at('about').textContent === words) return;
  at('about').textContent = words;
  fold(true);
  at('more').hidden = at('about').scrollHeight <= at('about').clientHeight + 1;
  at('more').onclick = () => fold(!at('about').classList.contains('folded'));
  if (at('more').hidden) at('about').classList.remove('folded');
}

function fold(isFolded) {
  at('about').classList.toggle('folded', isFolded);
  at('more').setAttribute('aria-expanded', String(!isFolded));
  at('more').textContent = text(isFolded ? 'more' : 'less');
}

function showFacts(claim) {
  const { claimStatus, recipient, mintedAt, mintedTx, transactionUrl } = claim;
  at('facts').hidden = !steps.includes(claimStatus);
  showLong('owner', recipient ?? '');
  at('network').textContent = claim.networkName;
  showLong('contract', claim.contractAddress);
  showLong('token', claim.tokenId);
  showLong('transaction', mintedTx ?? '');
  for (const row of ['time-row', 'transaction-row', 'contract-row', 'token-row']) {
    at(row).hidden = mintedTx === null;
  }
  at('explorer').hidden = transactionUrl === null;
  if (transactionUrl !== null) at('explorer').href = transactionUrl;
  if (mintedAt === null) return;
  at('time').dateTime = mintedAt;
  at('time').textContent = momentOf(mintedAt);
}

/** A long value, of which the beginning and the end are shown; the whole is copied. */
function showLong(id, whole) {
  const place = at(id);
  if (place.dataset.whole === whole) return;
  place.dataset.whole = whole;
  place.title = whole;
  place.textContent = short(whole);
}

/** A word next to the state, such as why it does not move. */
export function showNote(words) {
  setText('note', words);
}

function showServiceWords(words) {
  at('service').hidden = words === '';
  at('service-words').textContent = words;
}

/** What is wrong with what was asked for. It says what to do next, so nothing else is said meanwhile. */
export function showFault(words) {
  at('fault').textContent = words;
  if (words !== '') showNote('');
  if (words === '') at('recipient').removeAttribute('aria-invalid');
  else at('recipient').setAttribute('aria-invalid', 'true');
}

export const isFaultShown = () => !at('form').hidden && at('fault').textContent !== '';

/** What became of a claim when it is not what was asked for. */
export function showOutcome(words) {
  at('told').textContent = words;
}

/**
 * A button for each wallet.
 * @param names of texts: with the wallet's name, and for the wallet of this browser, which has none
 * @param onChosen called with the wallet whose button is pressed
 */
export function showWallets(id, wallets, [named, unnamed], onChosen) {
  const buttons = wallets.map((wallet) => {
    const button = document.createElement('button');
    button.type = 'button';
    if (wallet.icon !== undefined) {
      const icon = document.createElement('img');
      icon.src = wallet.icon;
      icon.alt = '';
      button.append(icon);
    }
    button.append(wallet.name === undefined ? text(unnamed) : text(named, { wallet: wallet.name }));
    button.addEventListener('click', () => onChosen(wallet));
    return button;
  });
  fill(at(id), buttons);
  at(id).hidden = buttons.length === 0;
}

/** @param names of the texts of the button: at rest, and while it works. Not `disabled`, which takes the focus away. */
export function showBusy(id, isBusy, [rest, busy]) {
  at(id).setAttribute('aria-disabled', String(isBusy));
  at(id).textContent = text(isBusy ? busy : rest);
}

export function offerToLookAgain(isOffered) {
  at('again').hidden = !isOffered;
}
