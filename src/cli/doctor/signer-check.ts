import type { Network } from '../../chain/rpc/client/network.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { isNetworkStaffed } from '../../rwa/minting/lane-status-store.ts';
import type { Finding } from '../shared/finding.ts';

type Parts = { readonly db: Database; readonly config: Config };

/** Whether each network that mints has a worker with a signer, or settings that give it to one. */
export async function examineSigners(
  { db, config }: Parts,
  networks: readonly Network[],
): Promise<Finding[]> {
  const named = new Set((config.MINT_SIGNERS ?? []).map(({ chainId }) => chainId));
  const found = networks.map(async ({ chainId, minterContract }): Promise<Finding[]> => {
    if (minterContract === null || (await isNetworkStaffed(db, chainId))) return [];
    const check = `minting ${chainId}`;
    if (!named.has(chainId)) {
      const detail =
        'a minter contract is named, but these settings name no signer, and no worker has had one in the last 10 minutes: set MINT_SIGNERS';
      return [{ check, state: 'FAULT', detail }];
    }
    const detail = 'no worker has had the signer in the last 10 minutes: start one with ROLES=worker';
    return [{ check, state: 'warning', detail }];
  });
  return (await Promise.all(found)).flat();
}
