import { Interface } from 'ethers';
import { deployData } from '../../src/chain/contracts/contract-calls.ts';
import { worldContracts } from '../../src/local/sample/contracts.ts';
import { startChain } from '../support/chain.ts';
import { callNode, deployer, sendMined } from '../support/deploy.ts';
import { indexChain } from '../support/index-chain.ts';
import { startService } from '../support/service.ts';

const { SampleToken, SampleCollectible } = worldContracts;
const calls = [SampleToken, SampleCollectible].map(({ abi }) => new Interface(abi));
/** The third account of the chain, whose lists are walked. */
const wallet = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const other = '0x90f79bf6eb2c4f870365e785982e1f101e93b906';
const started = 9;

export type MovingChain = Awaited<ReturnType<typeof startMovingChain>>;

/** The service over the index of a chain, each of whose transactions is a block and moves something of one wallet. */
export async function startMovingChain() {
  const chain = await startChain();
  const { rpcUrl } = chain;
  const service = await startService({ rpcUrl });

  const create = (data: string) => sendMined(rpcUrl, { data });
  const call = (from: string, to: string, name: string, values: readonly unknown[]) => {
    const abi = calls.find((each) => each.getFunction(name) !== null);
    return sendMined(rpcUrl, { from, to, data: abi?.encodeFunctionData(name, values) ?? '0x' });
  };
  const casks = await create(deployData(SampleCollectible, ['Cask', 'CASK']));
  let lastId = 0;

  const moves = {
    /** The wallet gets an NFT that is new. @returns its id */
    async mint(): Promise<string> {
      lastId += 1;
      await call(deployer, casks, 'mint', [wallet, lastId]);
      return String(lastId);
    },
    sendAway: (id: string) => call(wallet, casks, 'transferFrom', [wallet, other, id]),
    sendBack: (id: string) => call(other, casks, 'transferFrom', [other, wallet, id]),
    /** The wallet gets a token of a new contract, and lets somebody move it. */
    async addToken(): Promise<void> {
      const token = await create(deployData(SampleToken, ['Dollar', 'USD']));
      await call(deployer, token, 'mint', [wallet, 100n]);
      await call(wallet, token, 'approve', [other, 50n]);
    },
  };
  for (let count = 0; count < started; count += 1) {
    await moves.mint();
    await moves.addToken();
  }
  return {
    ...moves,
    wallet,
    index: () => indexChain(service, rpcUrl),
    /** @returns what takes the chain back to this moment */
    async mark(): Promise<() => Promise<void>> {
      const id = await callNode<string>(rpcUrl, 'evm_snapshot', []);
      return async () => {
        await callNode(rpcUrl, 'evm_revert', [id]);
      };
    },
    ask: (path: string, query: Readonly<Record<string, string>>) =>
      service
        .as(service.keys.noCompany)
        .get(
          `/blockchain/v1/api/${path}?${new URLSearchParams({ address: wallet, chainId: '31337', ...query })}`,
        ),
    async close() {
      await service.close();
      await chain.close();
    },
  };
}
