import { type ContractVerdict, hasCode, judgeContract } from '../../chain/contracts/contract-check.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';

/** A contract that RWAs name or are to name. */
export type NamedContract = {
  readonly network: Network;
  /** EIP-55. */
  readonly contract: string;
  /** Whether NFTs of any of the RWAs can be claimed. */
  readonly isClaimable: boolean;
};

/** Whether the service mints on the contract: its network has a minter contract, and NFTs can be claimed. */
export const isMintedOn = ({ network, isClaimable }: NamedContract): boolean =>
  network.minterContract !== null && isClaimable;

/**
 * Asks the network whether the contract is fit. A contract that the service mints on must be an NFT contract that lets
 * one of the signers mint. Any other contract needs code only.
 * @param signers addresses of the signers of the network
 * @throws NodesUnavailableError when no node answers
 */
export async function examineContract(
  clients: Pick<RpcClients, 'for'>,
  named: NamedContract,
  signers: readonly string[],
): Promise<{ readonly verdict: ContractVerdict; readonly detail: string }> {
  const { network, contract } = named;
  const provider = clients.for(network);
  if (isMintedOn(named)) return judgeContract(provider, contract, signers);
  if (await hasCode(provider, contract)) return { verdict: 'fit', detail: 'It is a contract.' };
  return { verdict: 'unfit', detail: `There is no contract at ${contract}.` };
}
