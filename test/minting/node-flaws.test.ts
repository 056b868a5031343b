import { Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import { callNode, deployer } from '../support/deploy.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import type { Flaw } from '../support/node/flaw.ts';
import { feeCap, noArchive, noFinalized, prunedBefore, rangesOf, without } from '../support/node/limits.ts';
import { lagsBy, pastOf, standsStill } from '../support/node/old-heads.ts';
import { startOrphan, startOtherChain } from '../support/node/orphan.ts';
import { startWatchedNode } from '../support/node/watched-node.ts';
import { leadsTo, malformedReceipts, slow, swallowsBroadcasts } from '../support/node/wrongs.ts';

const callOf =
  (url: string) =>
  <T>(method: string, ...params: unknown[]) =>
    callNode<T>(url, method, params);

const test = base
  .extend('chainOptions', perFile, { flags: ['--slots-in-an-epoch', '1', '--order', 'fifo'] })
  .extend('node', perFile, async ({ chain }, { onCleanup }) => {
    await callOf(chain.rpcUrl)('anvil_mine', '0xa');
    const node = await startWatchedNode(chain.rpcUrl);
    onCleanup(() => node.close());
    const ask = callOf(node.url);
    const having = (...flaws: Flaw[]) => {
      node.setFlaws(...flaws);
      return { ask };
    };
    return { ...node, ask, having, real: callOf(chain.rpcUrl) };
  });

type Block = { readonly number: string; readonly hash: string } | null;
const send = { from: deployer, to: deployer, value: '0x1' };

describe('a node that', () => {
  test('stands still answers everything as of then, and takes broadcasts', async ({ node }) => {
    const past = await pastOf(node.real);
    const count = await node.real<string>('eth_getTransactionCount', deployer, 'latest');
    const { ask } = node.having(standsStill(past));
    const hash = await ask<string>('eth_sendTransaction', send);
    await node.real('anvil_mine', '0x5');
    expect(await ask('eth_blockNumber')).toBe(`0x${past.head.toString(16)}`);
    expect((await ask<Block>('eth_getBlockByNumber', 'latest', false))?.number).toBe(
      `0x${past.head.toString(16)}`,
    );
    expect((await ask<Block>('eth_getBlockByNumber', 'finalized', false))?.number).toBe(
      `0x${past.finalized?.toString(16)}`,
    );
    expect(await ask('eth_getTransactionReceipt', hash)).toBeNull();
    expect(await ask('eth_getTransactionCount', deployer, 'latest')).toBe(count);
    expect(await ask('eth_getTransactionCount', deployer, 'pending')).not.toBe(count);
    expect(await ask('eth_getBlockByNumber', `0x${(past.head + 1n).toString(16)}`, false)).toBeNull();
    expect(await ask('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })).toEqual([]);
  });

  test('lags is always that far behind', async ({ node }) => {
    const { ask } = node.having(lagsBy(3n));
    const head = BigInt(await node.real<string>('eth_blockNumber'));
    expect(BigInt(await ask<string>('eth_blockNumber'))).toBe(head - 3n);
    await node.real('anvil_mine', '0x2');
    expect(BigInt(await ask<string>('eth_blockNumber'))).toBe(head - 1n);
  });

  test('stands on an orphan has the same blocks up to there, and its own after', async ({ node, chain }) => {
    const orphan = await startOrphan(chain.rpcUrl);
    const fork = await node.real<string>('eth_blockNumber');
    const next = `0x${(BigInt(fork) + 1n).toString(16)}`;
    await orphan.mine();
    await node.real('anvil_mine', '0x1');
    const { ask } = node.having(noFinalized('not found'), leadsTo(orphan.rpcUrl));
    const hashes = async (at: string) => [
      (await ask<Block>('eth_getBlockByNumber', at, false))?.hash,
      (await node.real<Block>('eth_getBlockByNumber', at, false))?.hash,
    ];
    const [same, also] = await hashes(fork);
    expect(same).toBe(also);
    const [one, other] = await hashes(next);
    expect(one).not.toBe(other);
    await expect(ask('eth_getBlockByNumber', 'finalized', false)).rejects.toThrow(
      'finalized block not found',
    );
    await orphan.close();
  });

  test('leads to another chain has its id and its counts', async ({ node }) => {
    const other = await startOtherChain([deployer]);
    const { ask } = node.having(leadsTo(other.rpcUrl));
    expect(await ask('eth_chainId')).toBe('0x7a6a');
    expect(await ask('eth_getTransactionCount', deployer, 'latest')).toBe('0x32');
    await other.close();
  });

  test('swallows broadcasts confirms them, and one with a fee cap refuses dear ones', async ({ node }) => {
    const wallet = Wallet.createRandom();
    await node.real('anvil_setBalance', wallet.address, '0x56bc75e2d63100000');
    const transaction = { chainId: 31337, nonce: 0, to: deployer, type: 2, maxPriorityFeePerGas: 1n };
    const raw = (gasLimit: bigint) =>
      wallet.signTransaction({ ...transaction, gasLimit, maxFeePerGas: 60_000_000_000n });
    const { ask } = node.having(swallowsBroadcasts);
    const hash = await ask<string>('eth_sendRawTransaction', await raw(21_000n));
    expect(await node.real('eth_getTransactionByHash', hash)).toBeNull();
    node.having(feeCap());
    await expect(ask('eth_sendRawTransaction', await raw(17_000_000n))).rejects.toThrow(
      'tx fee (1.02 ether) exceeds the configured cap (1.00 ether)',
    );
    expect(await ask('eth_sendRawTransaction', await raw(21_000n))).toBe(hash);
  });

  test('has pruned, or bounds, or has no archive or method, says so', async ({ node }) => {
    const { ask } = node.having(
      prunedBefore(5n),
      rangesOf(3n),
      noArchive(2n),
      without('eth_maxPriorityFeePerGas'),
    );
    await expect(ask('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })).rejects.toThrow(
      'pruned history',
    );
    await expect(ask('eth_getLogs', { fromBlock: '0x5', toBlock: 'latest' })).rejects.toThrow(
      'block range: 3',
    );
    expect(await ask('eth_getLogs', { fromBlock: '0x5', toBlock: '0x7' })).toEqual([]);
    await expect(ask('eth_getBalance', deployer, '0x1')).rejects.toThrow('is not available');
    await expect(ask('eth_maxPriorityFeePerGas')).rejects.toThrow('does not exist');
  });

  test('has malformed receipts, slowly, is counted', async ({ node }) => {
    node.questions.forget();
    const { ask } = node.having(slow(30), malformedReceipts({ status: 'ok' }));
    const hash = await ask<string>('eth_sendTransaction', send);
    await node.real('anvil_mine', '0x1');
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({
      status: 'ok',
      transactionHash: hash,
    });
    expect(node.questions.mostPerBlock()).toBe(2);
    expect(node.questions.byMethod().get('eth_getTransactionReceipt')).toBe(1);
  });
});
