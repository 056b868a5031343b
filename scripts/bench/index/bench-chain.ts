import { getCreateAddress } from 'ethers';
import { deployData } from '../../../src/chain/contracts/contract-calls.ts';
import { createChainRpc } from '../../../src/local/programs/chain-rpc.ts';
import { worldContracts } from '../../../src/local/sample/contracts.ts';
import { createPlayer } from '../../../src/local/sample/player.ts';
import type { TestChain } from '../../../test/support/chain.ts';
import { compileContracts } from '../../../test/support/solidity.ts';
import { type BenchCall, createMix, type MixContracts } from './mix.ts';

/** What blocks of mixed transactions have left on a chain. */
export type FilledChain = {
  readonly contracts: MixContracts;
  /** Number of the first block of the mix; `last` is the newest. */
  readonly first: number;
  readonly last: number;
  readonly transactions: number;
};
export type BenchChain = TestChain & FilledChain;

type FillOptions = { readonly blocks: number; readonly say: (line: string) => void };

/** A local chain on which everything is there that mixed transactions need. The node signs for its own accounts. */
export async function prepareChain(rpcUrl: string) {
  const rpc = createChainRpc(rpcUrl);
  const [owner = '', ...accounts] = (await rpc.call('eth_accounts')) as string[]; // the node's answer
  const player = createPlayer(rpc);
  const queue = (calls: readonly BenchCall[]) =>
    player.send(
      calls.map(({ to = null, ...call }) => ({ ...call, to, gas: to === null ? 3_000_000n : 200_000n })),
    );
  const mine = () => rpc.call('evm_mine');
  const send = async (calls: readonly BenchCall[]) => {
    await queue(calls);
    await mine();
  };
  const contracts = await deployAll(owner, send);
  const mix = createMix({ contracts, owner, accounts });
  const preparation = mix.preparation();
  for (let start = 0; start < preparation.length; start += 50)
    await send(preparation.slice(start, start + 50));
  const newest = async () => Number(await rpc.call('eth_blockNumber'));
  return { owner, contracts, mix, queue, mine, newest };
}

/** Fills a local chain with blocks of mixed transactions. */
export async function fillBenchChain(rpcUrl: string, { blocks, say }: FillOptions): Promise<FilledChain> {
  const { contracts, mix, queue, mine, newest } = await prepareChain(rpcUrl);
  const first = (await newest()) + 1;
  let transactions = 0;
  for (let turn = 0; turn < blocks; turn += 1) {
    const block = mix.block(turn);
    await queue(block);
    await mine();
    transactions += block.length;
    if (turn % 200 === 199) say(`  ${turn + 1} of ${blocks} blocks made`);
  }
  return { contracts, first, last: await newest(), transactions };
}

async function deployAll(
  owner: string,
  send: (calls: readonly BenchCall[]) => Promise<void>,
): Promise<MixContracts> {
  const { SampleToken, SampleCollectible, SampleEdition, SampleSplitter } = worldContracts;
  const wrapped = (await compileContracts())['WrappedNative'];
  if (wrapped === undefined) throw new Error('the wrapped native token is missing');
  const name = ['Bench', 'BENCH'];
  const codes = [
    deployData(SampleToken, name),
    deployData(SampleCollectible, name),
    deployData(SampleEdition, name),
    deployData(SampleSplitter),
    wrapped.bytecode,
  ];
  for (const data of codes) await send([{ from: owner, data }]);
  const [token = '', collectible = '', edition = '', splitter = '', native = ''] = codes.map((_, nonce) =>
    getCreateAddress({ from: owner, nonce }),
  );
  return {
    SampleToken: token,
    SampleCollectible: collectible,
    SampleEdition: edition,
    SampleSplitter: splitter,
    Wrapped: native,
  };
}
