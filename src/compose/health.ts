import { createHealthRouter, type HealthCheck } from '../http/mounts/health.ts';
import { createLagCheck } from '../providers/indexer/index-lag.ts';
import { assertNoLaneNeedsHelp } from '../rwa/mint-worker/stores/lane-store.ts';
import type { Parts } from './parts.ts';

/**
 * The health routes, which both listeners serve.
 * @param isServing false while the process starts or stops; it is not ready then
 */
export function createHealth(parts: Parts, isServing: () => boolean) {
  return createHealthRouter({
    isServing,
    checks: checksOf(parts),
    onFailure: (name, err) => parts.log.warn({ err, check: name }, 'readiness check failed'),
  });
}

function checksOf({ config, db, networks }: Parts): HealthCheck[] {
  const checks: HealthCheck[] = [
    { name: 'database', run: async () => void (await db.raw('SELECT 1')) },
    { name: 'networks', run: async () => void (await networks.list()) },
  ];
  // A process without the role only accepts mints, which wait until a lane works again.
  if (config.ROLES.includes('worker')) {
    checks.push({ name: 'minting', run: () => assertNoLaneNeedsHelp(db) });
  }
  const most = config.INDEX_READY_LAG;
  if (most !== undefined) {
    checks.push({ name: 'index', run: createLagCheck({ db, networks, most: BigInt(most) }) });
  }
  return checks;
}
