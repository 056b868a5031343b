import type { Network } from '../chain/rpc/client/network.ts';
import type { components, operations } from '../contract/generated/blockchain.ts';
import type { CallerContext, Handlers } from '../contract/operation.ts';
import type { Covered } from '../providers/shared/provider.ts';
import { wholeCoverage } from './coverage.ts';
import type { WalletDeps } from './wallet-handlers.ts';

/** The handler of the networks of the service. */
export function createNetworkHandlers({
  networks,
  providers,
}: WalletDeps): Pick<Handlers<operations, CallerContext>, 'listNetworks'> {
  return {
    async listNetworks() {
      const all = await networks.list();
      const indexed = all.filter(({ dataProvider }) => dataProvider === 'indexer');
      const covered = await providers.indexer.ledger?.coverage(indexed.map(({ chainId }) => chainId));
      const result = all.map((network) => networkToApi(network, covered?.get(network.chainId)));
      return { status: 200, body: { result } };
    },
  };
}

function networkToApi(network: Network, covered: Covered | undefined): components['schemas']['Network'] {
  const { chainId, name, currency, confirmations, finalityDepth, dataProvider } = network;
  return {
    chainId: Number(chainId),
    name,
    native_asset: { name: currency.name, symbol: currency.symbol, decimals: currency.decimals },
    confirmations,
    finality_depth: finalityDepth,
    history_source: dataProvider === 'indexer' ? 'own_index' : 'hosted_provider',
    ...(covered && { coverage: wholeCoverage(covered) }),
  };
}
