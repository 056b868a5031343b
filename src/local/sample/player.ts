import type { ChainRpc, RpcRequest } from '../programs/chain-rpc.ts';
import { chunks, type StoryBlock, type StoryStep } from './step.ts';

export type Sent = { readonly step: StoryStep; readonly hash: string };
export type StoryReceipt = { readonly status: string; readonly contractAddress: string | null };

export type Player = {
  /** Sends the transactions, which wait for a block. */
  send(steps: StoryBlock): Promise<Sent[]>;
  /** Sends the transactions and mines them as one block of this time, in seconds since 1970. */
  play(block: StoryBlock, time: number): Promise<Sent[]>;
};

// The chain starts at 1 gwei and falls while blocks are nearly empty; fixed fees keep hashes the same.
const fees = { maxFeePerGas: '0xb2d05e00', maxPriorityFeePerGas: '0x3b9aca00' };

/** Plays blocks on a new chain that mines on request only. The node signs for its own accounts. */
export function createPlayer(rpc: ChainRpc): Player {
  const nonces = new Map<string, number>();
  const request = ({ from, to, data, value = 0n, gas }: StoryStep): RpcRequest => {
    const nonce = nonces.get(from) ?? 0;
    nonces.set(from, nonce + 1);
    const common = { from, nonce: hex(nonce), gas: hex(gas), value: hex(value), ...fees };
    return {
      method: 'eth_sendTransaction',
      params: [{ ...common, ...(to && { to }), ...(data && { data }) }],
    };
  };
  const send = async (steps: StoryBlock) => {
    const hashes = (await rpc.batch(steps.map(request))) as string[]; // the node answers hashes
    return steps.map((step, i) => ({ step, hash: hashes[i] ?? '' }));
  };
  return {
    send,
    async play(block, time) {
      const sent = await send(block);
      await rpc.call('evm_mine', time);
      return sent;
    },
  };
}

/** The receipts of transactions, in their order. @throws Error when one was not mined */
export async function receiptsOf(rpc: ChainRpc, sent: readonly Sent[]): Promise<StoryReceipt[]> {
  const receipts: (StoryReceipt | null)[] = [];
  for (const part of chunks(sent, 100)) {
    const requests = part.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
    receipts.push(...((await rpc.batch(requests)) as (StoryReceipt | null)[])); // the node's receipts
  }
  return receipts.map((receipt, i) => {
    if (receipt === null) throw new Error(`transaction ${sent[i]?.hash} was not mined`);
    return receipt;
  });
}

/** @throws Error when a transaction has another status than its step requires */
export async function assertEndings(rpc: ChainRpc, sent: readonly Sent[]): Promise<void> {
  const receipts = await receiptsOf(rpc, sent);
  for (const [i, { step, hash }] of sent.entries()) {
    const wanted = step.fails ? '0x0' : '0x1';
    if (receipts[i]?.status !== wanted)
      throw new Error(`transaction ${hash} of ${step.from} should end ${wanted}`);
  }
}

const hex = (number: number | bigint): string => `0x${number.toString(16)}`;
