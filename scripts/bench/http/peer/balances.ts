import type { Ask } from './statements.ts';

type Network = {
  readonly rpc_urls: readonly string[];
  readonly currency_name: string;
  readonly currency_symbol: string;
  readonly currency_decimals: number;
};
type Balance = Readonly<Record<string, unknown>>;

const cacheMs = 60_000;

/** Balances of the native currency, which are remembered for a minute. */
export function createBalances(ask: Ask): (chainId: string, address: string) => Promise<Balance | undefined> {
  const balances = new Map<string, { readonly balance: Balance; readonly until: number }>();
  const networks = new Map<string, Network>();
  const networkOf = async (chainId: string) => {
    const [network] = await ask<Network>(
      'network',
      'SELECT rpc_urls, currency_name, currency_symbol, currency_decimals FROM networks WHERE chain_id = $1',
      [chainId],
    );
    if (network !== undefined) networks.set(chainId, network);
    return network;
  };
  return async (chainId, address) => {
    const network = networks.get(chainId) ?? (await networkOf(chainId));
    if (network === undefined) return undefined;
    const key = `${chainId}:${address.toLowerCase()}`;
    const found = balances.get(key);
    if (found !== undefined && found.until > performance.now()) return found.balance;
    const balance = await askNode(network, chainId, address);
    balances.set(key, { balance, until: performance.now() + cacheMs });
    return balance;
  };
}

async function askNode(network: Network, chainId: string, address: string): Promise<Balance> {
  const [url = ''] = network.rpc_urls;
  const updatedAt = new Date().toISOString();
  const call = async (method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) });
    return ((await response.json()) as { result: string }).result;
  };
  const block = await call('eth_blockNumber', []);
  const amount = BigInt(await call('eth_getBalance', [address, block]));
  const { currency_decimals: decimals } = network;
  const digits = amount.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return {
    ...{ chainId: Number(chainId), address: address.toLowerCase(), balance: amount.toString(), decimals },
    ...{ symbol: network.currency_symbol, name: network.currency_name },
    formatted: `${digits.slice(0, -decimals)}${fraction && `.${fraction}`}`,
    ...{ blockNumber: BigInt(block).toString(), updatedAt },
  };
}
