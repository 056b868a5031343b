import { inputInvalid, problem } from '../base/errors.ts';
import type { InputError } from '../base/problem.ts';
import { addressFault } from '../chain/address.ts';
import type { NetworkRegistry } from '../chain/networks.ts';
import type { Network } from '../chain/rpc/client/network.ts';

export type WalletQuery = {
  readonly address: string;
  /** As the caller wrote it. */
  readonly chainId: string;
  readonly contractAddress?: string;
};

/** The checked input that all operations of this area have in common. Addresses are in lower case. */
export type WalletQuestion = {
  readonly network: Network;
  readonly address: string;
  readonly contractAddress: string | null;
};

/**
 * Checks a query beyond the contract document: the checksums of addresses, and whether the network is registered.
 * @param others faults of further parameters, which come after the faults of the addresses
 * @throws ProblemError about the first fault, with all faults in its `errors`
 */
export async function readWalletQuestion(
  networks: Pick<NetworkRegistry, 'find'>,
  { address, chainId, contractAddress = '' }: WalletQuery,
  others: readonly InputError[] = [],
): Promise<WalletQuestion> {
  const faults = [
    addressFault(address, { in: 'query', name: 'address' }),
    contractAddress === ''
      ? undefined
      : addressFault(contractAddress, { in: 'query', name: 'contractAddress' }),
    ...others,
  ].filter((fault): fault is InputError => fault !== undefined);
  const network = await networks.find(chainId);
  const errors = network ? faults : [...faults, unregistered(chainId)];
  if (faults.length > 0) throw inputInvalid(errors);
  if (network === undefined) throw problem('network_not_found', { chainId }, { errors });
  return {
    network,
    address: address.toLowerCase(),
    contractAddress: contractAddress === '' ? null : contractAddress.toLowerCase(),
  };
}

function unregistered(chainId: string): InputError {
  const { message } = problem('network_not_found', { chainId });
  return { in: 'query', name: 'chainId', message };
}
