import type { Logger } from '../../base/log.ts';
import { judgeContract } from '../../chain/contracts/contract-check.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import { saveContractVerdicts, takeUnfitContracts } from '../minting/contract-verdict-store.ts';

type Parts = {
  readonly db: Database;
  readonly networks: NetworkRegistry;
  readonly clients: RpcClients;
  readonly log: Logger;
};

const restMinutes = 5;

/**
 * Examines contracts again that were found unfit a while ago, at a bounded rate. Mints on them are rejected. So nothing
 * else would notice that a contract was deployed since, or that the node had lagged.
 */
export async function examineUnfitContracts({ db, networks, clients, log }: Parts): Promise<void> {
  for (const { chainId, contract } of await takeUnfitContracts(db, restMinutes)) {
    const network = await networks.find(chainId);
    if (network === undefined) continue;
    try {
      const { verdict, detail } = await judgeContract(clients.for(network), contract, []);
      await saveContractVerdicts(db, [{ chainId, contract, verdict, detail }]);
    } catch (err) {
      log.warn({ err, chainId, contract }, 'contract cannot be examined again');
    }
  }
}
