import { NodesUnavailableError } from '../../chain/rpc/transport/node-fault.ts';
import { isOutage } from '../../db/connection/outage.ts';
import type { LaneDeps } from './context/lane-context.ts';
import { type LaneLease, type Pause, setPause } from './stores/lane-store.ts';

/** Tells why the lane does not send; undefined when it does. */
export type PauseReport = (pause: Pause | undefined) => Promise<void>;

/**
 * Creates the report that stores a pause each time that it changes, and announces it when its reason begins or ends,
 * not with each change of its words.
 */
export function createPauseReport(
  { db, step }: Pick<LaneDeps, 'db' | 'step'>,
  lease: LaneLease,
): PauseReport {
  // Unset at first, so that the first report is stored whatever it is: another holder may have left a pause.
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

// An answer of a node may hold anything.
const maxDetail = 500;

/**
 * The pause of a lane whose poll rejected with this error.
 * @throws the error when the database is out: that is no matter of the lane
 */
export function pauseForFailure(error: unknown): Pause {
  if (!isOfNodes(error) && isOutage(error)) throw error;
  const words = (error instanceof Error ? error.message : String(error)).slice(0, maxDetail);
  if (isOfNodes(error)) return { reason: 'nodes_unavailable', detail: words };
  return { reason: 'unexplained', detail: `The lane cannot go on: ${words}` };
}

/** Whether nodes gave no answer, an error, or one that is not of the form that was asked for. */
function isOfNodes(error: unknown): boolean {
  if (error instanceof NodesUnavailableError) return true;
  return error instanceof Error && (error.name === 'ZodError' || 'shortMessage' in error);
}
