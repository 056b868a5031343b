import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ContractFactory, encryptKeystoreJson, id, JsonRpcProvider, Wallet } from 'ethers';
import artefact from '../../../src/chain/contracts/artefacts/TallystickNft.json' with { type: 'json' };
import { callData } from '../../../src/chain/contracts/contract-calls.ts';
import { type ChainRpc, createChainRpc } from '../../../src/local/programs/chain-rpc.ts';
import { startChain, type TestChain } from '../../../test/support/chain.ts';

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
  /** Resolves right after the next block, so that what is compared begins at the same point between two. */
  nextBlock(): Promise<number>;
};

/** Who signs: made once a run, so that every chain of the run knows the same. */
export type BenchSigners = {
  readonly addresses: readonly string[];
  /** Settings of a service that signs with them. */
  readonly settings: Readonly<Record<string, string>>;
};

export async function createSigners(folder: string, count: number): Promise<BenchSigners> {
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, 'bench', { mode: 0o600 });
  const wallets = Array.from({ length: count }, () => new Wallet(Wallet.createRandom().privateKey));
  const places: string[] = [];
  for (const wallet of wallets) {
    const file = path.join(folder, `${wallet.address}.json`);
    // Cheap to open: the keys are worth nothing.
    const text = await encryptKeystoreJson(wallet, 'bench', { scrypt: { N: 1_024 } });
    writeFileSync(file, text, { mode: 0o600 });
    places.push(`${chainId}=keystore:${file}`);
  }
  return {
    addresses: wallets.map(({ address }) => address),
    settings: { MINT_SIGNERS: places.join(','), MINT_KEYSTORE_PASSWORD_FILE: passwordFile },
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
  const contract = await prepare(chain.rpcUrl, rpc, minters);
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

async function prepare(rpcUrl: string, rpc: ChainRpc, minters: readonly string[]): Promise<string> {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { cacheTimeout: -1, polling: true });
  try {
    const admin = await provider.getSigner(0);
    const factory = new ContractFactory(artefact.abi, artefact.bytecode, admin);
    const contract = await (await factory.deploy('Tallystick', 'TALLY', admin.address)).getAddress();
    for (const minter of minters) {
      await rpc.call('anvil_setBalance', minter, '0x56bc75e2d63100000');
      await admin.sendTransaction({
        to: contract,
        data: callData(artefact, 'grantRole', [id('MINTER_ROLE'), minter]),
      });
    }
    return contract;
  } finally {
    provider.destroy();
  }
}
