import { findNetwork, listNetworks } from '../../chain/network-store.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import { type Company, findCompanyByIdOrName } from '../../keys/company-store.ts';
import { type ClaimSecretVault, createClaimSecretVault } from '../../rwa/assets/claim-secret.ts';
import { listContracts } from '../../rwa/minting/compare/compared-contract-store.ts';
import { UsageError } from './failure.ts';
import type { Operator } from './session.ts';

/** Finds a registered network by its decimal id. @throws UsageError when there is none */
export async function findRegistered({ db }: Pick<Operator, 'db'>, chainId: string): Promise<Network> {
  return (await findNetwork(db, chainId)) ?? unknownNetwork(chainId);
}

export function unknownNetwork(chainId: string): never {
  throw new UsageError(`There is no network ${chainId}. List them with: tallystick network list`);
}

/** Finds a company by its id or name. @throws UsageError when there is none */
export async function findCompany({ db }: Pick<Operator, 'db'>, idOrName: string): Promise<Company> {
  return (await findCompanyByIdOrName(db, idOrName)) ?? unknownCompany(idOrName);
}

export function unknownCompany(idOrName: string): never {
  throw new UsageError(`There is no company "${idOrName}". List them with: tallystick company list`);
}

/**
 * Finds the registered networks with contracts to mint on, or the network of this id.
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

/** The vault of claim secrets. @throws UsageError without the setting SECRET_KEYS */
export function vaultOf({ config }: Pick<Operator, 'config'>): ClaimSecretVault {
  if (config.SECRET_KEYS !== undefined) return createClaimSecretVault(config.SECRET_KEYS);
  throw new UsageError(
    'SECRET_KEYS is missing: claim secrets are encrypted with it. Set it as for the service.',
  );
}
