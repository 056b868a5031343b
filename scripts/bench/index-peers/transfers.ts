import { AbiCoder, id, type Log } from 'ethers';
import { createChainRpc } from '../../../src/local/programs/chain-rpc.ts';
import type { BenchChain } from '../index/bench-chain.ts';

const batch = id('TransferBatch(address,address,address,uint256[],uint256[])');
const topics = [
  [
    id('Transfer(address,address,uint256)'),
    id('TransferSingle(address,address,address,uint256,uint256)'),
    batch,
  ],
];
/** Blocks that a node is asked for at once. */
const width = 100;

/** How many movements of coins and NFTs the logs of the chain's mix have; each id of a batch is one. */
export async function countTransfers({ rpcUrl, first, last }: BenchChain): Promise<number> {
  const rpc = createChainRpc(rpcUrl);
  let count = 0;
  for (let from = first; from <= last; from += width) {
    const range = { fromBlock: hex(from), toBlock: hex(Math.min(last, from + width - 1)) };
    const logs = (await rpc.call('eth_getLogs', { ...range, topics })) as Log[]; // the node's answer
    for (const log of logs) count += log.topics[0] === batch ? idsOf(log) : 1;
  }
  return count;
}

const hex = (value: number) => `0x${value.toString(16)}`;

function idsOf({ data }: Log): number {
  const [ids] = AbiCoder.defaultAbiCoder().decode(['uint256[]', 'uint256[]'], data);
  return ids.length;
}
