import { callData, deployData } from '../../src/chain/contracts/contract-calls.ts';
import { worldContracts } from '../../src/local/sample/contracts.ts';
import { callNode, deployer, minedReceipt } from './deploy.ts';

/** Deploys an ERC-20 token on a chain that mines on demand and mints some for each wallet. @returns its address */
export async function giveCoins(rpcUrl: string, wallets: readonly string[]): Promise<string> {
  const coin = worldContracts.SampleToken;
  const send = (transaction: object) =>
    callNode<string>(rpcUrl, 'eth_sendTransaction', [{ from: deployer, ...transaction }]);
  const { contractAddress } = await minedReceipt(
    rpcUrl,
    await send({ data: deployData(coin, ['Coin', 'COIN']) }),
  );
  for (const wallet of wallets) {
    const data = callData(coin, 'mint', [wallet, 1_000_000n]);
    await minedReceipt(rpcUrl, await send({ to: contractAddress, data }));
  }
  return contractAddress;
}
