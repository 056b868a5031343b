/*
 * The claim page. The id of the NFT is in the path, the secret in the fragment, which browsers send to nobody. The secret
 * stays there and is stored nowhere: so a reload, the way back and another browser with the same link all go on.
 *
 * Written for Safari 14, Chrome and Edge 85, Firefox 79: their syntax and functions, and no newer ones.
 */

import { at } from '../shared/elements.js';
import { loadTexts, text, whenOf } from '../shared/texts.js';
import { hasChecksum, readAddress } from './address.js';
import { checkRecipient, readClaim, sendClaim } from './api.js';
import { readLink } from './link.js';
import { noteSent, wasSent } from './sent.js';
import {
  isConfirming,
  isFaultShown,
  offerToLookAgain,
  showBusy,
  showClaim,
  showConfirm,
  showFault,
  showNote,
  showOutcome,
  showReason,
  showStage,
  showTexts,
  showWallets,
} from './view.js';
import { addToWallet, askForAddress, watchWallets } from './wallets.js';
import { addressFaultOf, faultOf, reasonOf, wordsOf, wordsOfLink } from './words.js';

document.documentElement.dataset.started = '';

const held = readLink(location);

// A mint takes seconds to minutes; who has not seen the end after an hour asks for it.
const firstWaitMs = 2_000;
const longestWaitMs = 15_000;
const patienceMs = 3_600_000;

let timer;
let looking;
let began = Date.now();
let waitMs = firstWaitMs;
// A wrong secret is counted, so it is not tried again unasked.
let isRefused = false;
let isBusy = false;
let isClaiming = false;
/** Whether the confirmation has an entry in the history of the tab. */
let hasEntry = false;
/** Whether the fault that is shown is that nothing answers, which the next answer ends. */
let isUnreached = false;
/** What was read last. */
let claim;
/** The address that is being confirmed. */
let proposed;
let wallets = [];

/** Looks once, however many ask for it at the same time. */
function look() {
  clearTimeout(timer);
  if (looking === undefined) {
    looking = lookOnce().finally(() => {
      looking = undefined;
    });
  }
  return looking;
}

async function lookOnce() {
  offerToLookAgain(false);
  const answer = await readClaim(held);
  if (answer.body !== undefined) return showAndFollow(answer.body);
  const reason = reasonOf(answer);
  if (reason !== undefined) {
    const isNotOpen = answer.code === 'claim_not_open';
    isRefused = !isNotOpen;
    showReason(reason);
    offerToLookAgain(isNotOpen || answer.code === 'secret_locked');
    return;
  }
  const seconds = answer.retryAfter ?? Math.ceil(waitMs / 1_000);
  if (!isFaultShown()) showNote(text('noAnswer', { when: whenOf(seconds) }));
  lookLater(seconds * 1_000);
}

function showAndFollow(read) {
  isRefused = false;
  if (isUnreached) showFault('');
  isUnreached = false;
  claim = read;
  showClaim(claim, wordsOf(claim, wasSent(held.nftId, claim.recipient)));
  showAddable();
  if (claim.claimStatus === 'queued' || claim.claimStatus === 'submitted') lookLater(waitMs);
}

function lookLater(ms) {
  waitMs = Math.min(longestWaitMs, waitMs * 1.3);
  const isPatient = Date.now() - began < patienceMs;
  offerToLookAgain(!isPatient);
  clearTimeout(timer);
  if (isPatient) timer = setTimeout(look, ms);
}

function lookUnasked() {
  if (!isRefused) void look();
}

function lookAnew() {
  began = Date.now();
  waitMs = firstWaitMs;
  return look();
}

/** Runs one thing at a time; what is pressed meanwhile does nothing. */
async function alone(work) {
  if (isBusy) return;
  isBusy = true;
  try {
    await work();
  } finally {
    isBusy = false;
  }
}

const explainAddress = (words) => {
  showFault(words);
  at('recipient').focus();
};

/** Takes a text to the confirmation, if it is an address that can get the NFT. */
async function propose(given) {
  showFault('');
  showOutcome('');
  const { address, ...fault } = readAddress(given, claim);
  if (address === undefined) return explainAddress(addressFaultOf(fault, claim));
  showBusy('next', true, ['next', 'checking']);
  const answer = await checkRecipient(held, address);
  showBusy('next', false, ['next', 'checking']);
  const { body, code } = answer;
  if (isAddressFault(code)) return explainAddress(recipientFaultOf(code, address));
  // Without an answer nothing is known against the address; the claim itself is checked again.
  if (body === undefined && !unanswered.includes(code)) return explain(answer);
  proposed = body?.recipient?.toLowerCase() === address.toLowerCase() ? body.recipient : address;
  showConfirm(claim, { address: proposed, hasCode: body?.hasCode === true });
  // With an entry of its own, so that the Back of the browser leads to the form and what is typed there.
  history.pushState(null, '');
  hasEntry = true;
  await outwaitDoubleTap();
}

// The second tap of two may come this late, and where *Continue* was is now another button.
const doubleTapMs = 500;

async function outwaitDoubleTap() {
  for (const id of ['yes', 'change']) showBusy(id, true, [id, id]);
  await new Promise((done) => setTimeout(done, doubleTapMs));
  for (const id of ['yes', 'change']) showBusy(id, false, [id, id]);
}

/** Leaves the confirmation, if it is still there, and its entry of the history. */
function endConfirm() {
  const wasConfirming = isConfirming();
  if (wasConfirming) showStage('form');
  // Its end is noted first: the browser goes back later.
  const isThere = hasEntry;
  hasEntry = false;
  if (isThere) history.back();
  return wasConfirming;
}

function changeAddress() {
  if (!endConfirm()) return;
  at('recipient').focus();
  at('recipient').select();
}

const unanswered = ['unreachable', 'not_found', 'service_unavailable', 'overloaded', 'internal_error'];

const isAddressFault = (code) =>
  code === 'recipient_unusable' || code === 'input_invalid' || code === 'recipient_required';

const recipientFaultOf = (code, address) =>
  text(code === 'input_invalid' && hasChecksum(address) ? 'addressChecksum' : 'addressUnusable');

async function claimIt() {
  isClaiming = true;
  showBusy('yes', true, ['yes', 'claiming']);
  clearTimeout(timer);
  noteSent(held.nftId, proposed);
  const answer = await sendClaim(held, proposed);
  if (answer.body === undefined) await explain(answer);
  else showAndFollow(answer.body);
  endConfirm();
  showBusy('yes', false, ['yes', 'claiming']);
  isClaiming = false;
}

/** Whatever was answered, what is true is read: somebody may have claimed it, and a lost answer may have been a yes. */
async function explain(answer) {
  await looking;
  await lookAnew();
  const { code } = answer;
  const wasConfirming = endConfirm();
  if (code === 'nft_already_queued' || code === 'nft_already_minted') {
    if (!wasSent(held.nftId, claim.recipient)) showOutcome(text('faster'));
  } else if (isAddressFault(code)) {
    explainAddress(recipientFaultOf(code, proposed));
  } else {
    showFault(faultOf(answer, claim));
    isUnreached = code === 'unreachable';
    if (wasConfirming) at('next').focus();
  }
}

async function useWallet(wallet) {
  showFault('');
  const { given, fault } = await askForAddress(wallet);
  // A wallet may never answer, or late: whoever has gone on with an address of their own is not brought back.
  if (isBusy || at('form').hidden) return;
  if (fault !== undefined) return showFault(text(fault));
  at('recipient').value = given;
  await alone(() => propose(given));
}

function showAddable() {
  const isMinted = claim?.claimStatus === 'minted';
  showWallets('add', isMinted ? wallets : [], ['addToWallet', 'addToThisWallet'], async (wallet) => {
    const outcome = await addToWallet(wallet, claim);
    if (outcome === 'added') showNote(text('addedToWallet'));
    if (outcome === 'failed') showNote(text('notAddedToWallet'));
  });
}

function begin() {
  at('form').addEventListener('submit', (event) => {
    event.preventDefault();
    void alone(() => propose(at('recipient').value));
  });
  at('yes').addEventListener('click', () => alone(claimIt));
  at('change').addEventListener('click', () => isBusy || changeAddress());
  addEventListener('popstate', () => {
    hasEntry = false;
    if (!isClaiming) changeAddress();
  });
  at('again').addEventListener('click', lookAnew);
  // A phone stops the timers of a page that is not seen.
  document.addEventListener(
    'visibilitychange',
    () => document.visibilityState === 'visible' && lookUnasked(),
  );
  addEventListener('pageshow', (event) => event.persisted && lookAnew());
  addEventListener('online', lookUnasked);
  watchWallets((found) => {
    wallets = found;
    showWallets('wallets', wallets, ['useWallet', 'useThisWallet'], useWallet);
    showAddable();
  });
  void look();
}

async function start() {
  await loadTexts((language) => import(`./text-${language}.js`));
  showTexts();
  if (held.secret === undefined) showReason(wordsOfLink(held));
  else begin();
}

// Another code that is scanned into the same tab changes nothing but the fragment.
addEventListener('hashchange', () => location.reload());
start().catch(() => window.sayNotStarted());
