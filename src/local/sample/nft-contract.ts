import { id } from 'ethers';
import { callData } from '../../chain/contracts/contract-calls.ts';
import { localChainId } from '../programs/chain.ts';
import type { ChainRpc } from '../programs/chain-rpc.ts';
import { type Cast, type ContractAddresses, worldContracts } from './contracts.ts';
import type { StoryStep } from './step.ts';

const gas = 200_000n;

/** The operator's transactions that let the minter mint NFTs of assets. */
export function nftSetUp(
  { operator, minter }: Cast,
  addresses: ContractAddresses,
  baseUrl: string,
): StoryStep[] {
  const data = callData(worldContracts.TallystickNft, 'grantRole', [id('MINTER_ROLE'), minter]);
  return [
    { from: operator, to: addresses.TallystickNft, data, gas },
    metadataStep(operator, addresses.TallystickNft, baseUrl),
  ];
}

// Sets the URL of the service, which serves the metadata of the tokens.
function metadataStep(operator: string, contract: string, baseUrl: string): StoryStep {
  const base = `${baseUrl}/v1/api/metadata/${localChainId}/${contract}/`;
  return {
    from: operator,
    to: contract,
    data: callData(worldContracts.TallystickNft, 'setBaseURI', [base]),
    gas,
  };
}

/** Sets the service's new address in the contract. */
export async function moveMetadata(
  rpc: ChainRpc,
  { cast, addresses }: { readonly cast: Cast; readonly addresses: ContractAddresses },
  baseUrl: string,
): Promise<void> {
  const { from, to, data } = metadataStep(cast.operator, addresses.TallystickNft, baseUrl);
  await rpc.call('eth_sendTransaction', { from, to, data });
}
