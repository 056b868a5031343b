import { inTime } from '../base/in-time.ts';
import type { NetworkRegistry } from '../chain/networks.ts';
import type { Network } from '../chain/rpc/client/network.ts';
import type { RpcClients } from '../chain/rpc/client/rpc-clients.ts';

type Parts = { readonly networks: NetworkRegistry; readonly clients: RpcClients };

// A poll asks every node a question, and a caller may ask for readiness each second.
const lookEveryMs = 15_000;
// A probe gives up after a second. A poll that takes longer counts when it has ended.
const patienceMs = 500;

/** Creates a check that throws, naming the networks of which no node can be used. */
export function createNodeCheck({ networks, clients }: Parts, now = () => performance.now()) {
  const looks = new Map<string, { readonly at: number; readonly look: Promise<boolean> }>();

  const isServed = (network: Network): Promise<boolean> => {
    const last = looks.get(network.chainId);
    if (last !== undefined && now() - last.at < lookEveryMs) return soon(last.look);
    const look = lookAt(clients, network);
    looks.set(network.chainId, { at: now(), look });
    return soon(look);
  };

  return async (): Promise<void> => {
    const all = await networks.list();
    const served = await Promise.all(all.map(isServed));
    const dead = all.filter((_, index) => served[index] === false).map(({ chainId }) => chainId);
    if (dead.length > 0) throw new Error(`no node can be used of networks ${dead.join(', ')}`);
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
