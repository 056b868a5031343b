/*
 * The claim page. The id of the NFT is in the path, the secret in the fragment, which browsers send to nobody. The secret
 * stays there and is stored nowhere: so a reload, the way back and another browser with the same link all go on.
 */

import { readClaim, sendClaim } from './api.js';
import {
  offerToLookAgain,
  showBusy,
  showClaim,
  showFault,
  showNote,
  showOutcome,
  showReason,
  showWallets,
} from './view.js';
import { askForAddress, isAddress, watchWallets } from './wallets.js';
import { faultOf, incomplete, reasonOf, whenOf } from './words.js';

const field = document.getElementById('recipient');
const held = readLink();

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
let isClaiming = false;

/** What the link holds; undefined when a part is missing. */
function readLink() {
  const nftId = location.pathname.split('/').at(-1) ?? '';
  try {
    const secret = decodeURIComponent(location.hash.slice(1));
    return /^[0-9a-f-]{36}$/i.test(nftId) && secret !== '' ? { nftId, secret } : undefined;
  } catch {
    return undefined;
  }
}

/** Looks once, however many ask for it at the same time. */
function look() {
  clearTimeout(timer);
  looking ??= lookOnce().finally(() => {
    looking = undefined;
  });
  return looking;
}

async function lookOnce() {
  offerToLookAgain(false);
  const answer = await readClaim(held);
  if (answer.claim !== undefined) return showAndFollow(answer.claim);
  const reason = reasonOf(answer);
  if (reason !== undefined) {
    isRefused = true;
    showReason(reason);
    offerToLookAgain(answer.code === 'secret_locked');
    return;
  }
  const seconds = answer.retryAfter ?? Math.ceil(waitMs / 1_000);
  showNote(`No answer from the service. The page tries again ${whenOf(seconds)}.`);
  lookLater(seconds * 1_000);
}

function showAndFollow(claim) {
  isRefused = false;
  showClaim(claim);
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

async function claim(recipient) {
  showFault('');
  showOutcome('');
  if (!isAddress(recipient)) {
    showFault(recipient === '' ? faultOf({ code: 'recipient_required' }) : malformed);
    field.focus();
    return;
  }
  isClaiming = true;
  showBusy(true);
  clearTimeout(timer);
  const answer = await sendClaim(held, recipient);
  if (answer.claim === undefined) await explain(answer);
  else showAndFollow(answer.claim);
  showBusy(false);
  isClaiming = false;
}

const malformed = 'An address is 0x and 40 digits from 0 to 9 and letters from a to f.';

/** Whatever was answered, what is true is read: somebody may have claimed it, and a lost answer may have been a yes. */
async function explain(answer) {
  await looking;
  await lookAnew();
  const { code } = answer;
  if (code === 'nft_already_queued' || code === 'nft_already_minted') {
    showOutcome('Somebody has claimed it already, for the wallet above.');
    return;
  }
  showFault(faultOf(answer));
  if (code === 'input_invalid' || code === 'recipient_required') field.focus();
}

async function useWallet(wallet) {
  showFault('');
  try {
    field.value = await askForAddress(wallet);
    document.getElementById('claim').focus();
  } catch (error) {
    showFault(error.message);
  }
}

function begin() {
  document.getElementById('form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isClaiming) void claim(field.value.trim());
  });
  document.getElementById('again').addEventListener('click', lookAnew);
  // A phone stops the timers of a page that is not seen.
  document.addEventListener(
    'visibilitychange',
    () => document.visibilityState === 'visible' && lookUnasked(),
  );
  addEventListener('pageshow', (event) => event.persisted && lookAnew());
  addEventListener('online', lookUnasked);
  watchWallets((wallets) => showWallets(wallets, useWallet));
  void look();
}

// Another code that is scanned into the same tab changes nothing but the fragment.
addEventListener('hashchange', () => location.reload());
if (held === undefined) showReason(incomplete);
else begin();
