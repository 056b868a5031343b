import { Interface } from 'ethers';
import { createIndexerProvider } from '../../src/providers/indexer/indexer-provider.ts';
import { describeDataProvider } from '../suites/data-provider.ts';
import { startChain } from '../support/chain.ts';
import { createTestDatabase } from '../support/database.ts';
import { callNode, deploy, deployer } from '../support/deploy.ts';
import { indexChain } from '../support/index-chain.ts';
import { testNetwork } from '../support/networks.ts';
import { compileContracts } from '../support/solidity.ts';

const collectible = new Interface(['function mint(address to, uint256 id) payable']);
const pieces = new Interface(['function mint(address to, uint256 id, uint256 amount)']);
const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

describeDataProvider('indexer', async () => {
  const [chain, database, compiled] = await Promise.all([
    startChain(),
    createTestDatabase(),
    compileContracts(),
  ]);
  const unique = await deploy(chain.rpcUrl, compiled['Collectible']);
  const many = await deploy(chain.rpcUrl, compiled['Pieces']);
  const send = (to: string, data: string, value = '0x0') =>
    callNode(chain.rpcUrl, 'eth_sendTransaction', [{ from: deployer, to, data, value, gas: '0x7a120' }]);
  for (const id of [1n, 2n, 2n ** 256n - 1n]) {
    await send(unique, collectible.encodeFunctionData('mint', [deployer, id]));
  }
  await send(many, pieces.encodeFunctionData('mint', [deployer, 7n, 50n]));
  await send(other, '0x', '0x64');
  await send(deployer, '0x', '0x1');
  await indexChain(database, chain.rpcUrl);
  return {
    provider: createIndexerProvider(database),
    network: testNetwork([chain.rpcUrl]),
    wallet: deployer,
    hashes: await sentBy(chain.rpcUrl, deployer),
    nfts: [`${unique}/1/1`, `${unique}/2/1`, `${unique}/${2n ** 256n - 1n}/1`, `${many}/7/50`],
    stranger: `0x${'5'.repeat(40)}`,
    async close() {
      await chain.close();
      await database.close();
    },
  };
});

type Block = { readonly transactions: readonly { readonly hash: string; readonly from: string }[] };

/** What the node says, block by block. */
async function sentBy(rpcUrl: string, wallet: string): Promise<string[]> {
  const newest = Number(await callNode<string>(rpcUrl, 'eth_blockNumber', []));
  const blocks: Block[] = [];
  for (let number = 0; number <= newest; number += 1) {
    blocks.push(await callNode(rpcUrl, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, true]));
  }
  const all = blocks.flatMap(({ transactions }) => transactions);
  return all.filter(({ from }) => from === wallet).map(({ hash }) => hash);
}
