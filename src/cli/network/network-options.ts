import { type Command, Option } from 'commander';
import type { NetworkChanges, NewNetwork } from '../../chain/network-store.ts';
import {
  type DataProviderName,
  dataProviders,
  type IndexTraces,
  indexTraces,
  knownNativeAssets,
  knownWrappedNatives,
  type Network,
} from '../../chain/rpc/client/network.ts';
import { UsageError } from '../shared/failure.ts';
import {
  addressValue,
  gwei,
  orEmpty,
  orNull,
  present,
  several,
  severalAddresses,
  siteUrl,
  wholeNumber,
  words,
} from '../shared/values.ts';

export type NetworkOptions = {
  name?: string;
  currency?: string;
  symbol?: string;
  decimals?: number;
  rpc?: string[];
  inClear?: boolean;
  provider?: DataProviderName;
  confirmations?: number;
  finality?: number;
  minTip?: string;
  minterContract?: string;
  indexFrom?: number;
  indexTraces?: IndexTraces;
  wrappedNative?: string[];
  nativeAsset?: string;
  entryPoint?: string[];
  explorerUrl?: string;
};

// The values of a new network whose options are absent; the help names the same numbers.
const defaults = { decimals: 18, provider: 'indexer', confirmations: 12, finality: 64 } as const;

/** Adds the options without default values: in an update, an absent option keeps the present value. */
export const withNetworkOptions = (command: Command) =>
  withIndexOptions(command)
    .option('--name <name>', 'its name', words())
    .option('--symbol <symbol>', 'symbol of the native currency, such as ETH', words(32))
    .option('--currency <name>', 'name of the native currency; its symbol by default', words())
    .option('--decimals <n>', `decimals of the native currency (${defaults.decimals})`, wholeNumber(0, 77))
    .option('--rpc <url>', "a node's http(s) URL; repeat it for more, the best first", several)
    .option('--in-clear', 'let --rpc store credentials in clear where SECRET_KEYS is not set')
    .addOption(
      new Option('--provider <name>', `source of histories and NFT lists (${defaults.provider})`).choices(
        dataProviders,
      ),
    )
    .option(
      '--confirmations <n>',
      `blocks after which a transaction counts as done (${defaults.confirmations})`,
      wholeNumber(1, 100_000),
    )
    .option(
      '--finality <n>',
      `blocks after which a block is final where the node does not say (${defaults.finality})`,
      wholeNumber(1, 1_000_000),
    )
    .option('--min-tip <gwei>', 'the least tip of a mint, for nodes that take no less (0)', gwei)
    .option(
      '--minter-contract <address>',
      'NFT contract to mint on; an empty text for none',
      orEmpty(addressValue),
    )
    .option(
      '--explorer-url <url>',
      'block explorer, which shows a transaction at /tx/<hash>; an empty text for none',
      orEmpty(siteUrl),
    );

const withIndexOptions = (command: Command) =>
  command
    .option(
      '--index-from <block>',
      'first block of an index that has not begun (0)',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .addOption(
      new Option(
        '--index-traces <method>',
        'how to read value that moves inside transactions (none)',
      ).choices(indexTraces),
    )
    .option(
      '--wrapped-native <address>',
      'contract that wraps the native asset, for blocks indexed from now on; repeat it for more, an empty text ' +
        'for none (that of a well-known network)',
      severalAddresses,
    )
    .option(
      '--native-asset <address>',
      'contract that logs the native asset as an ERC-20, for blocks indexed from now on; an empty text for none ' +
        '(that of a well-known network)',
      orEmpty(addressValue),
    )
    .option(
      '--entry-point <address>',
      'contract that checks signatures of user operations, in addition to those of ERC-4337; repeat it for more, an ' +
        'empty text for none',
      severalAddresses,
    );

/** @throws UsageError when an option is missing or contradicts another */
export function newNetwork(chainId: string, options: NetworkOptions): NewNetwork {
  const { name, symbol, rpc } = options;
  if (name === undefined || symbol === undefined || rpc === undefined) {
    throw new UsageError('A new network needs --name, --symbol and at least one --rpc.');
  }
  const confirmations = options.confirmations ?? defaults.confirmations;
  const network: NewNetwork = {
    chainId,
    name,
    currency: {
      name: options.currency ?? symbol,
      symbol,
      decimals: options.decimals ?? defaults.decimals,
    },
    rpcUrls: rpc,
    dataProvider: options.provider ?? defaults.provider,
    confirmations,
    finalityDepth: options.finality ?? Math.max(defaults.finality, confirmations),
    minTip: options.minTip ?? '0',
    minterContract: orNull(options.minterContract) ?? null,
    indexFrom: String(options.indexFrom ?? 0),
    indexTraces: options.indexTraces ?? 'none',
    wrappedNatives: options.wrappedNative ?? [knownWrappedNatives[chainId] ?? []].flat(),
    nativeAsset:
      options.nativeAsset === undefined
        ? (knownNativeAssets[chainId] ?? null)
        : (orNull(options.nativeAsset) ?? null),
    entryPoints: options.entryPoint ?? [],
    explorerUrl: orNull(options.explorerUrl) ?? null,
  };
  assertFits(network);
  return network;
}

/** @throws UsageError when nothing changes, or the changed network would contradict itself */
export function toChanges(options: NetworkOptions, network: Network): NetworkChanges {
  if (Object.keys(options).length === 0) throw new UsageError('Nothing to change: give an option.');
  const changes = present({
    name: options.name,
    currency: { ...network.currency, ...currencyOf(options) },
    rpcUrls: options.rpc,
    dataProvider: options.provider,
    confirmations: options.confirmations,
    finalityDepth: options.finality,
    minTip: options.minTip,
    minterContract: orNull(options.minterContract),
    indexFrom: options.indexFrom?.toString(),
    indexTraces: options.indexTraces,
    wrappedNatives: options.wrappedNative,
    nativeAsset: orNull(options.nativeAsset),
    entryPoints: options.entryPoint,
    explorerUrl: orNull(options.explorerUrl),
  });
  assertFits({ ...network, ...changes });
  return changes;
}

const currencyOf = ({ currency, symbol, decimals }: NetworkOptions) =>
  present({ name: currency, symbol, decimals });

function assertFits({ rpcUrls, confirmations, finalityDepth }: NewNetwork): void {
  if (new Set(rpcUrls).size < rpcUrls.length) throw new UsageError('--rpc names the same URL twice.');
  if (finalityDepth < confirmations) {
    throw new UsageError(
      `--finality (${finalityDepth}) must not be below --confirmations (${confirmations}): give both.`,
    );
  }
}
