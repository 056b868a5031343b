import { startChain, type TestChain } from '../chain.ts';
import { callNode } from '../deploy.ts';

export type Orphan = TestChain & {
  call<T>(method: string, ...params: unknown[]): Promise<T>;
  mine(blocks?: number): Promise<void>;
};

/**
 * Starts a node on a chain of its own that parts from the real one: all blocks up to there are the same, all later ones
 * are its own. A node that {@link leadsTo} its URL stands on an orphan.
 * @param options.depth how many of the newest blocks of the real chain it does not have
 */
export async function startOrphan(rpcUrl: string, { depth = 0 } = {}): Promise<Orphan> {
  const head = BigInt(await callNode<string>(rpcUrl, 'eth_blockNumber', []));
  const chain = await startChain({
    flags: [
      ...['--slots-in-an-epoch', '1', '--order', 'fifo'],
      ...['--fork-url', rpcUrl, '--fork-block-number', String(head - BigInt(depth))],
    ],
  });
  const call = <T>(method: string, ...params: unknown[]) => callNode<T>(chain.rpcUrl, method, params);
  // With another miner, blocks that are otherwise equal have other hashes.
  await call('anvil_setCoinbase', `0x${'0b'.repeat(20)}`);
  return { ...chain, call, mine: (blocks = 1) => call('anvil_mine', `0x${blocks.toString(16)}`) };
}

/** Starts another chain on which an account has sent this many transactions; a node may lead to it. */
export async function startOtherChain(
  accounts: readonly string[],
  { chainId = '31338', nonce = 50 } = {},
): Promise<Orphan> {
  const chain = await startChain({ chainId, flags: ['--slots-in-an-epoch', '1'] });
  const call = <T>(method: string, ...params: unknown[]) => callNode<T>(chain.rpcUrl, method, params);
  for (const account of accounts) {
    await call('anvil_setBalance', account, '0x56bc75e2d63100000');
    await call('anvil_setNonce', account, `0x${nonce.toString(16)}`);
  }
  await call('anvil_mine', '0x40');
  return { ...chain, call, mine: (blocks = 1) => call('anvil_mine', `0x${blocks.toString(16)}`) };
}
