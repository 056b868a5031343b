import type { Network } from '../../src/chain/rpc/client/network.ts';

/** The network of a local chain with these nodes. */
export function testNetwork(rpcUrls: readonly string[], changes: Partial<Network> = {}): Network {
  return {
    chainId: '31337',
    hexChainId: '0x7a69',
    name: 'Test chain',
    currency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls,
    dataProvider: 'indexer',
    confirmations: 1,
    finalityDepth: 64,
    minterContract: null,
    indexFrom: '0',
    indexTraces: 'none',
    wrappedNatives: [],
    nativeAsset: null,
    entryPoints: [],
    minTip: '0',
    explorerUrl: null,
    ...changes,
  };
}
