/** A network that the operator registered. */
export type Network = {
  /** Decimal chain id without leading zeros, for example `137`. */
  readonly chainId: string;
  /** The same id as nodes and upstream providers write it, for example `0x89`. */
  readonly hexChainId: string;
  readonly name: string;
  readonly currency: Currency;
  /** The addresses of nodes, the preferred one first: see `node-address.ts`. They may carry credentials. */
  readonly rpcUrls: readonly string[];
  /** The source of wallet histories and NFT lists. */
  readonly dataProvider: DataProviderName;
  /** Number of blocks after which a transaction counts as confirmed. */
  readonly confirmations: number;
  /** Depth in blocks at which a block counts as final where the node has no `finalized` block. */
  readonly finalityDepth: number;
  /** The least tip of a mint in wei, decimal: for nodes that take no less, and suggest less or nothing. */
  readonly minTip: string;
  /** The NFT contract that the minter uses; null where nothing is minted. */
  readonly minterContract: string | null;
  /** The first block of the network's index, in decimal; has no effect once the index has begun. */
  readonly indexFrom: string;
  /** How the network's index learns of value that moves inside transactions. */
  readonly indexTraces: IndexTraces;
  /** Contracts that wrap the native asset, in EIP-55: their deposit and withdrawal events count as mint and burn. */
  readonly wrappedNatives: readonly string[];
  /** The contract that logs movements of the native asset as an ERC-20, in EIP-55; no token of its own. */
  readonly nativeAsset: string | null;
  /** Contracts that check the signatures of user operations in addition to the contracts of ERC-4337, in EIP-55. */
  readonly entryPoints: readonly string[];
  /** Its block explorer, which has a transaction at `/tx/<hash>`; without a slash at its end. */
  readonly explorerUrl: string | null;
};

type Currency = {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
};

export const dataProviders = ['moralis', 'indexer'] as const;
export type DataProviderName = (typeof dataProviders)[number];

/** `debug` uses the node's `debug_traceBlockByHash`, `trace` its `trace_block`; `none` reads no traces. */
export const indexTraces = ['none', 'debug', 'trace'] as const;
export type IndexTraces = (typeof indexTraces)[number];

/**
 * The contract that wraps the native asset, for networks where it is beyond doubt. The same events of another
 * contract can mean anything, so the operator names the contract of every other network.
 */
export const knownWrappedNatives: Readonly<Record<string, string>> = {
  '1': '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
  '10': '0x4200000000000000000000000000000000000006',
  '137': '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
  '8453': '0x4200000000000000000000000000000000000006',
  '42161': '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
};

/** The contract that logs the native asset as an ERC-20, for networks where it is beyond doubt: zkSync Era and its test network. */
export const knownNativeAssets: Readonly<Record<string, string>> = {
  '324': '0x000000000000000000000000000000000000800A',
  '300': '0x000000000000000000000000000000000000800A',
};

/** The hex form of a decimal chain id: `1` becomes `0x1`. It is always derived, never entered. */
export function hexChainId(chainId: string): string {
  return `0x${BigInt(chainId).toString(16)}`;
}

// Bodies carry a chain id as a JSON number too, so it must be an exact integer there.
const maxChainId = BigInt(Number.MAX_SAFE_INTEGER);

/** Whether a text can be the id of a registered network: decimal, no leading zero, at most 2^53 - 1. */
export function isChainId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && BigInt(text) <= maxChainId;
}
