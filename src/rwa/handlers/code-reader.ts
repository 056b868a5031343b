import { inTime } from '../../base/in-time.ts';
import { isContract } from '../../chain/contracts/contract-check.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';

type Deps = {
  readonly networks: Pick<NetworkRegistry, 'find'>;
  readonly clients: Pick<RpcClients, 'for'>;
};

// A person waits for the answer, and it is only a warning.
const deadlineMs = 3_000;

/** Finds out whether an address is a contract on a network; null when no node says so in time. */
export function createCodeReader({ networks, clients }: Deps) {
  return async (chainId: string, address: string): Promise<boolean | null> => {
    const network = await networks.find(chainId);
    if (network === undefined) return null;
    // The client reports what is wrong with its nodes.
    return inTime(isContract(clients.for(network), address), deadlineMs).catch(() => null);
  };
}
