import { Interface } from 'ethers';
import { startChain } from '../support/chain.ts';
import { deploy, sendMined } from '../support/deploy.ts';
import { indexChain } from '../support/index-chain.ts';
import { startService } from '../support/service.ts';
import { compileContracts } from '../support/solidity.ts';
import { type ListSetup, stranger } from './wallet-lists.ts';

const abi = new Interface(['function mint(address to, uint256 id) payable']);
/** The third account of the chain. */
const busy = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';

/** The service over the index of a chain on which a wallet made itself 120 NFTs, one a transaction. */
export async function startIndexedLists(path: string): Promise<ListSetup> {
  const chain = await startChain();
  const to = await deploy(chain.rpcUrl, (await compileContracts())['Collectible']);
  for (let id = 1; id <= 120; id += 1) {
    const data = abi.encodeFunctionData('mint', [busy, id]);
    await sendMined(chain.rpcUrl, { from: busy, to, data });
  }
  // The hosted provider is only there to be another one.
  const moralis = { baseUrl: 'http://127.0.0.1:9', apiKey: 'none' };
  const service = await startService({ rpcUrl: chain.rpcUrl, moralis });
  await indexChain(service, chain.rpcUrl);
  const ask = (query: string) => service.as(service.keys.noCompany).get(`${path}?${query}`);
  return {
    service,
    chainId: '31337',
    otherChainId: '1',
    busy,
    get: (changes = {}) =>
      ask(new URLSearchParams({ address: stranger, chainId: '31337', ...changes }).toString()),
    asked: () => [],
    forget: () => {},
    async close() {
      await service.close();
      await chain.close();
    },
  };
}
