import { errorText } from '../../base/thrown.ts';
import type { PinnedNode } from '../../chain/rpc/pool/pinned-node.ts';
import { isOutage } from '../../db/connection/outage.ts';
import { isOfNode } from './context/inquiry.ts';
import type { LaneContext, LaneDeps } from './context/lane-context.ts';
import { type LaneLease, type LaneWork, type Pause, setPause } from './stores/lane-store.ts';

/** Reports why the lane does not send; undefined when it does. */
export type PauseReport = (pause: Pause | undefined) => Promise<void>;

/**
 * Creates the report that stores a pause each time that it changes, and announces it when its reason begins or ends,
 * not with each change of its words.
 */
export function createPauseReport(
  { db, step }: Pick<LaneDeps, 'db' | 'step'>,
  lease: LaneLease,
): PauseReport {
  // Unset at first, so that the first report is always stored. Another owner may have left a pause.
  let reported: { readonly pause: Pause | undefined } | undefined;

  return async (pause) => {
    const last = reported?.pause;
    if (reported !== undefined && last?.reason === pause?.reason && last?.detail === pause?.detail) return;
    await setPause(db, lease, pause);
    reported = { pause };
    if (last?.reason === pause?.reason) return;
    if (pause !== undefined) await step('paused', pause);
    else if (last !== undefined) await step('resumed', { reason: last.reason });
  };
}

// An answer of a node may contain anything.
const maxDetail = 500;

/**
 * The pause of a lane whose poll rejected with this error.
 * @throws the error when the database does not answer, which is not the lane's fault
 */
export function pauseForFailure(error: unknown): Pause {
  if (!isOfNode(error) && isOutage(error)) throw error;
  const words = errorText(error).slice(0, maxDetail);
  if (isOfNode(error)) return { reason: 'nodes_unavailable', detail: words };
  return { reason: 'unexplained', detail: `The lane cannot go on: ${words}` };
}

/**
 * The pause that a lane reports: why it sends nothing, or why what is in flight is not mined or not final. A stop by an operator has
 * a column of its own, and must not hide the other.
 */
export const firstOf = (ofSending: Pause | undefined, ofInFlight: Pause | undefined): Pause | undefined =>
  ofSending?.reason === 'operator' ? (ofInFlight ?? ofSending) : (ofSending ?? ofInFlight);

/** Why transactions in flight are not mined: funds, the price, or nodes that do not take them. */
export const pauseInFlight = (context: LaneContext): Pause | undefined =>
  pauseForUnderfunded(context) ?? pauseForPrice(context) ?? pauseForRefused(context);

/** Why transactions in flight are not mined, where the price is above what they may pay. */
function pauseForPrice({ memory }: LaneContext): Pause | undefined {
  const inFlight = [...memory.transactions.values()].filter(({ mined }) => mined === undefined);
  const [detail] = inFlight.flatMap(({ tooDear }) => tooDear ?? []);
  return detail === undefined ? undefined : { reason: 'fee_above_cap', detail };
}

/**
 * Why nodes keep the lane's transactions from being mined, or from becoming final. It sends and confirms all the same. Some chains
 * make blocks only for transactions: that there was none before this poll sent any says nothing.
 */
export function pauseOfNodes(
  { finalityUnknown, label, standing }: Pick<PinnedNode, 'finalityUnknown' | 'label' | 'standing'>,
  { hasOpen, hasUnconfirmed }: LaneWork,
): Pause | undefined {
  if (standing !== undefined && hasUnconfirmed)
    return { reason: 'no_new_blocks', detail: `${label}: ${standing}, and no other node has a newer one.` };
  if (finalityUnknown?.isLasting && hasOpen)
    return { reason: 'finality_unknown', detail: finalityUnknown.why };
  return undefined;
}

/** The pause. A foreign nonce is waited for until it is final: its detail names what keeps blocks from becoming final. */
export function withFinality(pause: Pause | undefined, { finalityUnknown }: PinnedNode): Pause | undefined {
  if (pause?.reason !== 'foreign_nonce' || !finalityUnknown?.isLasting) return pause;
  return { ...pause, detail: `${pause.detail} It is not final: ${finalityUnknown.why}` };
}

export function pauseForWatchOnly({ signer }: LaneContext): Pause {
  return { reason: 'no_signer', detail: `No process has the key of ${signer.address}.` };
}

/** Transactions in flight cannot be mined without funds either. */
function pauseForUnderfunded({ memory, signer }: LaneContext): Pause | undefined {
  if (![...memory.transactions.values()].some(({ isUnderfunded }) => isUnderfunded)) return undefined;
  return { reason: 'balance_too_low', detail: `${signer.address} has too little for what it has signed.` };
}

/** A transaction that every node rejects is not mined, and neither are those after it. */
function pauseForRefused({ lease, memory, settings }: LaneContext): Pause | undefined {
  const [refused] = [...memory.transactions.values()].flatMap((known) => known.refused ?? []);
  if (refused === undefined) return pauseForMissing(memory);
  const { isExhausted, words } = refused;
  const remedy = `No more is offered unless a node names a figure. If they want a higher tip: tallystick network update ${lease.chainId} --min-tip <gwei>; MINT_MAX_FEE_GWEI is ${settings.feeCap / 1_000_000_000n}.`;
  const detail = `Nodes reject a transaction: ${words}`;
  return { reason: 'broadcast_refused', detail: isExhausted ? `${detail}. ${remedy}` : detail };
}

/** The first time may be a node that restarted. It has the transaction after the next broadcast. */
function pauseForMissing({ transactions }: LaneContext['memory']): Pause | undefined {
  const missing = [...transactions.values()].find((known) => (known.missing ?? 0) > 1);
  if (missing === undefined) return undefined;
  const detail = `Nodes say that they take the transaction which is next, and do not have it. Their last answer: ${missing.answer ?? 'nothing'}`;
  return { reason: 'broadcast_refused', detail };
}
