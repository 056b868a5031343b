import { listNetworks } from '../../chain/network-store.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import { listContracts } from '../../rwa/minting/compare/compared-contract-store.ts';
import { findRegistered } from './find-network.ts';
import type { Operator } from './session.ts';

/**
 * The registered networks with contracts to mint on, or the one of this id.
 * @throws UsageError when no network has the id
 */
export async function mintingNetworks(
  operator: Pick<Operator, 'db'>,
  chainId: string | undefined,
): Promise<Network[]> {
  if (chainId !== undefined) return [await findRegistered(operator, chainId)];
  const { db } = operator;
  const networks = await listNetworks(db);
  const contracts = await Promise.all(networks.map((network) => listContracts(db, network.chainId)));
  return networks.filter((_, index) => contracts[index]?.length !== 0);
}
