import { createHealthRouter, type HealthCheck } from '../http/mounts/health.ts';
import { createLagCheck } from '../providers/indexer/index-lag.ts';
import { assertKeysOpen } from '../rwa/assets/secret-keys-store.ts';
import { assertNoLaneNeedsHelp } from '../rwa/minting/lane-status-store.ts';
import { createNodeCheck } from './node-check.ts';
import type { Parts } from './parts.ts';

/** Whom a listener answers. */
type Audience = 'callers' | 'operators';

/**
 * The health routes, which both listeners serve. Whether mints move is a matter of operators: callers are answered
 * all the same, and what they ask for waits.
 * @param isServing false while the process starts or stops; it is not ready then
 */
export function createReadiness(parts: Parts, isServing: () => boolean, audience: Audience) {
  return createHealthRouter({
    isServing,
    checks: checksOf(parts, audience),
    onFailure: (name, err) => parts.log.warn({ err, check: name }, 'readiness check failed'),
  });
}

function checksOf(parts: Parts, audience: Audience): HealthCheck[] {
  const { config, db, networks, vault } = parts;
  const answersCallers = config.ROLES.includes('api');
  const checks: HealthCheck[] = [
    { name: 'database', run: async () => void (await db.raw('SELECT 1')) },
    // A node that is out is no reason to keep callers away, who may want none.
    { name: 'networks', run: createNodeCheck(parts), isOptional: answersCallers },
  ];
  if (vault !== undefined) checks.push({ name: 'secrets', run: () => assertKeysOpen(db, vault) });
  if (audience === 'operators' && config.ROLES.includes('worker')) {
    checks.push({ name: 'minting', run: () => assertNoLaneNeedsHelp(db) });
  }
  const most = config.INDEX_READY_LAG;
  if (most !== undefined) {
    const run = createLagCheck({ db, networks, most: BigInt(most) });
    // Nor is an index that is behind: it is the same for all processes, and of one network of many.
    checks.push({ name: 'index', run, isOptional: answersCallers });
  }
  return checks;
}
