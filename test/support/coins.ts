import { callData, deployData } from '../../src/chain/contracts/contract-calls.ts';
import { worldContracts } from '../../src/local/sample/contracts.ts';
import { sendMined } from './deploy.ts';

type Name = 'SampleToken' | 'SampleCollectible';

/** Deploys a contract on a chain that mines on demand, and mints of it. @returns its address */
async function deployAndMint(
  rpcUrl: string,
  name: Name,
  mints: readonly (readonly [wallet: string, value: bigint])[],
): Promise<string> {
  const artefact = worldContracts[name];
  const to = await sendMined(rpcUrl, { data: deployData(artefact, [name, 'SAMPLE']) });
  for (const mint of mints) await sendMined(rpcUrl, { to, data: callData(artefact, 'mint', mint) });
  return to;
}

/** Deploys an ERC-20 token and mints some for each wallet. @returns its address */
export const giveCoins = (rpcUrl: string, wallets: readonly string[]): Promise<string> =>
  deployAndMint(
    rpcUrl,
    'SampleToken',
    wallets.map((wallet) => [wallet, 1_000_000n]),
  );

/** Deploys an ERC-721 contract and mints a token for each owner. @returns its address */
export const giveCollectibles = (
  rpcUrl: string,
  owners: readonly (readonly [wallet: string, tokenId: bigint])[],
): Promise<string> => deployAndMint(rpcUrl, 'SampleCollectible', owners);
