import { errorText } from '../../base/thrown.ts';
import { metadataBase, readBaseUri } from '../../chain/contracts/base-uri.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Finding } from '../shared/finding.ts';
import { isLoopback, localChain } from '../shared/values.ts';

type Parts = { readonly clients: RpcClients; readonly config: { readonly publicBaseUrl: string } };

/** Compares where the contracts that networks mint on say that metadata are with where this service has them. */
export async function examineBaseUris(parts: Parts, networks: readonly Network[]): Promise<Finding[]> {
  const found = await Promise.all(networks.map((network) => examineBaseUri(parts, network)));
  return found.flat();
}

async function examineBaseUri({ clients, config }: Parts, network: Network): Promise<Finding[]> {
  const { chainId, minterContract } = network;
  if (minterContract === null) return [];
  const check = `metadata ${chainId}`;
  const remedy = `tallystick contract set-base-uri ${chainId} ${minterContract}`;
  try {
    const base = await readBaseUri(clients.for(network), minterContract);
    if (base === undefined) return [];
    if (base === '')
      return [{ check, state: 'FAULT', detail: `tokens of ${minterContract} name no metadata: ${remedy}` }];
    if (chainId !== localChain && URL.canParse(base) && isLoopback(base)) {
      const detail = `${minterContract} names ${base}, which only this machine reaches: set PUBLIC_BASE_URL, then ${remedy}`;
      return [{ check, state: 'FAULT', detail }];
    }
    const own = metadataBase(config.publicBaseUrl, chainId, minterContract);
    if (base.toLowerCase() === own.toLowerCase())
      return [{ check, state: 'ok', detail: `${minterContract} names ${base}` }];
    const detail = `${minterContract} names ${base}, and PUBLIC_BASE_URL gives ${own}: fix PUBLIC_BASE_URL, or ${remedy}`;
    return [{ check, state: 'warning', detail }];
  } catch (error) {
    return [{ check, state: 'warning', detail: `not examined: ${errorText(error)}` }];
  }
}
