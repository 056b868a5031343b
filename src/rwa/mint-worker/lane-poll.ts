import type { LaneContext, LaneDeps } from './lane-context.ts';
import { createLaneMemory } from './lane-memory.ts';
import { send } from './send/send.ts';
import { findLaneWork, type Lease, type Pause, setPause } from './stores/lane-store.ts';
import { watch } from './watch/watch.ts';

// A reorganisation may leave the newest block as it was, and is noticed only when older blocks are checked.
const maxWatchIntervalMs = 5_000;

/**
 * Creates the poll of a lane: it watches the transactions in flight, then sends what is queued. With nothing to
 * do it costs one query and no call to a node.
 */
export function createLanePoll(deps: LaneDeps, lease: Lease, stopping: AbortSignal): () => Promise<void> {
  const { db, signer, settings, log, step, now, findNetwork, nodeOf } = deps;
  const memory = createLaneMemory();
  const reportPause = createPauseReport(deps, lease);
  let watchedHead: string | undefined;
  let watchedAt = Number.NEGATIVE_INFINITY;

  return async () => {
    const { hasOpen, hasQueued } = await findLaneWork(db, lease);
    if (!hasOpen && !hasQueued) return reportPause(undefined);
    const network = await findNetwork(lease.chainId);
    if (network === undefined) return;
    const node = nodeOf(network);
    const context = { db, signer, settings, log, step, now, lease, network, node, memory, stopping };

    const head = await node.head();
    const isDue = head.hash !== watchedHead || now() - watchedAt >= maxWatchIntervalMs;
    if (hasOpen && isDue) {
      await watch(context, head);
      watchedHead = head.hash;
      watchedAt = now();
    }
    const pause = await send(context, head);
    if (!stopping.aborted)
      await reportPause(pause ?? pauseForUnderfunded(context) ?? pauseForRefused(context));
  };
}

/** Transactions in flight cannot be mined without funds either. */
function pauseForUnderfunded({ memory, signer }: LaneContext): Pause | undefined {
  if (memory.underfunded.size === 0) return undefined;
  return { reason: 'balance_too_low', detail: `${signer.address} has too little for what it has signed.` };
}

/** Transactions that every node refuses are not mined, and keep their nonces. */
function pauseForRefused({ memory }: LaneContext): Pause | undefined {
  const [refused] = memory.refused.values();
  return refused && { reason: 'broadcast_refused', detail: `Nodes refuse a transaction: ${refused.words}` };
}

/** Stores and announces why the lane does not send, each time that it changes. */
function createPauseReport({ db, step }: LaneDeps, lease: Lease) {
  // Unset at first, so that the first report is stored whatever it is: another holder may have left a pause.
  let reported: { readonly pause: Pause | undefined } | undefined;

  return async (pause: Pause | undefined): Promise<void> => {
    if (reported !== undefined && isSamePause(reported.pause, pause)) return;
    await setPause(db, lease, pause);
    const wasPaused = reported?.pause !== undefined;
    reported = { pause };
    if (pause !== undefined) await step('paused', pause);
    else if (wasPaused) await step('resumed', {});
  };
}

const isSamePause = (one: Pause | undefined, other: Pause | undefined): boolean =>
  one?.reason === other?.reason && one?.detail === other?.detail;
