import { setTimeout as pause } from 'node:timers/promises';
import { JsonRpcProvider, Wallet } from 'ethers';
import { type ChainRpc, createChainRpc } from '../../../src/local/programs/chain-rpc.ts';
import { startChain, type TestChain } from '../../../test/support/chain.ts';
import { deployNft } from '../../../test/support/deploy.ts';
import { keystoreSettings } from '../../../test/support/keystore-settings.ts';

export const chainId = '31337';
export const confirmations = 2;
const blockSeconds = 1;
const blockGas = 60_000_000;
// With a base fee worth nothing, what was signed for one chain is good for the other, however full its blocks are.
const fees = ['--block-base-fee-per-gas', '1'];

export type BenchChain = TestChain & {
  readonly rpc: ChainRpc;
  /** The NFT contract; EIP-55. The same on every fresh chain. */
  readonly contract: string;
  blockNumber(): Promise<number>;
  /** Resolves right after the next block, so that both sides of a comparison begin at the same point between two blocks. */
  nextBlock(): Promise<number>;
};

/** The signers. They are made once a run, so that every chain of the run knows the same. */
export type BenchSigners = {
  readonly addresses: readonly string[];
  /** Settings of a service that signs with them. */
  readonly settings: Readonly<Record<string, string>>;
};

export async function createSigners(count: number): Promise<BenchSigners> {
  const wallets = Array.from({ length: count }, () => Wallet.createRandom());
  return {
    addresses: wallets.map(({ address }) => address),
    settings: await keystoreSettings(chainId, ...wallets.map(({ privateKey }) => privateKey)),
  };
}

/**
 * A fresh chain with the contract and its minters: a block a second from here on.
 * @param more flags of the program
 */
export async function startBenchChain(
  minters: readonly string[],
  more: readonly string[] = [],
): Promise<BenchChain> {
  const flags = ['--gas-limit', String(blockGas), ...fees, ...more];
  const chain = await startChain({ chainId, flags, startMs: 20_000 });
  const rpc = createChainRpc(chain.rpcUrl);
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1, polling: true });
  const contract = await (await deployNft(provider, minters)).getAddress();
  provider.destroy();
  await rpc.call('evm_setIntervalMining', blockSeconds);
  const blockNumber = async () => Number(await rpc.call('eth_blockNumber'));
  return {
    ...chain,
    rpc,
    contract,
    blockNumber,
    async nextBlock() {
      const first = await blockNumber();
      for (;;) {
        const now = await blockNumber();
        if (now > first) return now;
        await pause(5);
      }
    },
  };
}
