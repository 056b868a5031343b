import { createLedger } from '../../load/ledger.ts';
import { startRunningService } from '../../load/service.ts';
import { startSurroundings } from '../../load/surroundings.ts';
import type { Stage } from './fault.ts';

const unclaimed = 1_000;

/**
 * Starts the service and its surroundings.
 * @param folder exists, and is empty
 * @param opened stops them
 */
export async function openStage(folder: string, opened: AsyncDisposableStack): Promise<Stage> {
  const around = opened.adopt(await startSurroundings(folder, unclaimed), (surroundings) =>
    surroundings.close(),
  );
  const service = opened.adopt(await startRunningService(around), (running) => running.stop());
  return { around, service, ledger: createLedger() };
}
