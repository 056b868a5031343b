/* Puts what is known on the page. Everything is text, nothing is markup. */

import { wordsOf } from './words.js';

const at = (id) => document.getElementById(id);
const steps = ['queued', 'submitted', 'minted'];

/** @param words `{ mood, headline, message }` */
export function showWords({ mood, headline, message }) {
  at('headline').closest('section').dataset.mood = mood ?? '';
  // Said again by screen readers only when it changes.
  if (at('headline').textContent !== headline) at('headline').textContent = headline;
  if (at('message').textContent !== message) at('message').textContent = message;
}

export function showClaim(claim) {
  showAsset(claim);
  showWords(wordsOf(claim));
  const { claimStatus, isClaimable } = claim;
  const place = steps.indexOf(claimStatus);
  at('steps').hidden = place === -1;
  for (const [index, step] of steps.entries()) {
    const item = at('steps').querySelector(`[data-step=${step}]`);
    const isDone = index < place || claimStatus === 'minted';
    item.toggleAttribute('data-done', isDone);
    if (index === place && !isDone) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  }
  const isInForm = at('form').contains(document.activeElement);
  at('form').hidden = !isClaimable;
  // The form has gone from under whoever has just used it.
  if (isInForm && !isClaimable) {
    at('headline').tabIndex = -1;
    at('headline').focus();
  }
  showFacts(claim);
}

/** Nothing is claimed here: neither the form nor facts of before stay. */
export function showReason(words) {
  for (const id of ['form', 'facts', 'steps']) at(id).hidden = true;
  showWords(words);
}

function showAsset({ name, type, serial, description, imageUrl }) {
  document.title = `${name} · claim`;
  at('name').textContent = name;
  at('kind').textContent = type;
  at('serial').textContent = `No. ${serial}`;
  at('about').textContent = description ?? '';
  at('label').hidden = false;
  const picture = at('picture');
  if (imageUrl === null || picture.src === imageUrl) return;
  picture.alt = `Picture of ${name}`;
  // A picture that does not come leaves no gap.
  picture.onload = () => {
    picture.hidden = false;
  };
  picture.onerror = () => {
    picture.hidden = true;
  };
  picture.src = imageUrl;
}

function showFacts(claim) {
  const { claimStatus, recipient, mintedAt, mintedTx, transactionUrl, mintNote } = claim;
  const isClaimed = steps.includes(claimStatus);
  at('facts').hidden = !isClaimed;
  at('owner').textContent = recipient ?? '';
  at('network').textContent = claim.networkName;
  at('token').textContent = `${claim.contractAddress} / ${claim.tokenId}`;
  for (const row of ['time-row', 'transaction-row', 'token-row']) at(row).hidden = mintedTx === null;
  if (mintedAt !== null) {
    at('time').dateTime = mintedAt;
    at('time').textContent = new Intl.DateTimeFormat(undefined, {
      dateStyle: 'medium',
      timeStyle: 'short',
    }).format(new Date(mintedAt));
  }
  at('transaction').replaceChildren(transactionOf(mintedTx, transactionUrl));
  showNote(mintNote ?? '');
}

function transactionOf(hash, url) {
  const code = document.createElement('code');
  code.textContent = hash ?? '';
  if (url === null) return code;
  const link = document.createElement('a');
  link.href = url;
  link.rel = 'noreferrer';
  link.target = '_blank';
  link.append(code);
  return link;
}

/** A word beside the state, such as why it does not move. */
export function showNote(text) {
  if (at('note').textContent !== text) at('note').textContent = text;
}

export function showFault(text) {
  at('fault').textContent = text;
  if (text === '') at('recipient').removeAttribute('aria-invalid');
  else at('recipient').setAttribute('aria-invalid', 'true');
}

/** @param onChosen called with the wallet whose button is pressed */
export function showWallets(wallets, onChosen) {
  const buttons = wallets.map((wallet) => {
    const button = document.createElement('button');
    button.type = 'button';
    if (wallet.icon !== undefined) {
      const icon = document.createElement('img');
      icon.src = wallet.icon;
      icon.alt = '';
      button.append(icon);
    }
    button.append(`Use ${wallet.name}`);
    button.addEventListener('click', () => onChosen(wallet));
    return button;
  });
  at('wallets').replaceChildren(...buttons);
  at('wallets').hidden = buttons.length === 0;
}

/** What became of a claim when it is not what was asked for. */
export function showOutcome(text) {
  at('told').textContent = text;
}

/** Not `disabled`, which would take the focus away. */
export function showBusy(isBusy) {
  at('claim').setAttribute('aria-disabled', String(isBusy));
  at('claim').textContent = isBusy ? 'Claiming …' : 'Claim';
}

export function offerToLookAgain(isOffered) {
  at('again').hidden = !isOffered;
}
