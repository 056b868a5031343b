import { inTime } from '../base/in-time.ts';
import type { Network } from '../chain/rpc/client/network.ts';
import type { RpcClients } from '../chain/rpc/client/rpc-clients.ts';
import { createHealthRouter, type HealthCheck, PartialFault } from '../http/mounts/health.ts';
import { assertJobTables } from '../jobs/job-table-store.ts';
import { createLagCheck } from '../providers/indexer/index-lag.ts';
import { assertKeysOpen } from '../rwa/assets/secret-keys-store.ts';
import type { MintWorker } from '../rwa/mint-worker/mint-worker.ts';
import { findStanding } from '../rwa/minting/lane-status-store.ts';
import type { Parts } from './parts.ts';

/** What only operators are answered. */
type OfOperators = { readonly minter: MintWorker | undefined };

/**
 * The health routes, which both listeners serve. Whether mints move is a matter of operators: callers are answered
 * all the same, and what they ask for waits.
 * @param isServing false while the process starts or stops; it is not ready then
 * @param ofOperators undefined on the listener for callers
 */
export function createReadiness(parts: Parts, isServing: () => boolean, ofOperators?: OfOperators) {
  return createHealthRouter({
    isServing,
    checks: checksOf(parts, ofOperators),
    onFailure: (name, err) => parts.log.warn({ err, check: name }, 'readiness check failed'),
  });
}

function checksOf(parts: Parts, ofOperators: OfOperators | undefined): HealthCheck[] {
  const { config, db, networks, vault } = parts;
  const answersCallers = config.ROLES.includes('api');
  const checks: HealthCheck[] = [
    { name: 'database', run: async () => void (await db.raw('SELECT 1')) },
    { name: 'jobs', run: () => assertJobTables(db) },
    // A node that is out is no reason to keep callers away, who may want none.
    { name: 'networks', run: createNodeCheck(parts), isOptional: answersCallers },
  ];
  if (vault !== undefined) checks.push({ name: 'secrets', run: () => assertKeysOpen(db, vault) });
  const minter = ofOperators?.minter;
  if (minter !== undefined) {
    checks.push({
      name: 'minting',
      async run() {
        minter.assertStaffed();
        const { message, isAll } = await findStanding(db);
        if (message !== undefined) throw isAll ? new Error(message) : new PartialFault(message);
      },
    });
  }
  const most = config.INDEX_READY_LAG;
  if (most !== undefined) {
    const run = createLagCheck({ db, networks, most: BigInt(most) });
    // Nor is an index that is behind: it is the same for all processes, and of one network of many.
    checks.push({ name: 'index', run, isOptional: answersCallers });
  }
  return checks;
}

// A poll asks every node a question, and a caller may ask for readiness each second.
const lookEveryMs = 15_000;
// A probe gives up after a second. A poll that takes longer counts when it has ended.
const patienceMs = 500;

/** Creates a check that throws, naming the networks of which no node can be used. */
function createNodeCheck({ networks, clients }: Parts) {
  const looks = new Map<string, { readonly at: number; readonly look: Promise<boolean> }>();

  const isServed = (network: Network): Promise<boolean> => {
    const last = looks.get(network.chainId);
    if (last !== undefined && performance.now() - last.at < lookEveryMs) return soon(last.look);
    const look = lookAt(clients, network);
    looks.set(network.chainId, { at: performance.now(), look });
    return soon(look);
  };

  return async (): Promise<void> => {
    const all = await networks.list();
    const served = await Promise.all(all.map(isServed));
    const dead = all.filter((_, index) => served[index] === false).map(({ chainId }) => chainId);
    if (dead.length === 0) return;
    const message = `no node can be used of networks ${dead.join(', ')}`;
    throw dead.length === all.length ? new Error(message) : new PartialFault(message);
  };
}

const soon = (look: Promise<boolean>) => inTime(look, patienceMs).catch(() => false);

async function lookAt(clients: RpcClients, network: Network): Promise<boolean> {
  try {
    const pool = clients.pool(network);
    await pool.look();
    return pool.status().some(({ state }) => state !== 'failing' && state !== 'foreign');
  } catch {
    // An address that does not open leaves the network without nodes too.
    return false;
  }
}
