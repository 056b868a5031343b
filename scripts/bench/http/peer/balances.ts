import { getAddress } from 'ethers';
import type pg from 'pg';

type Network = {
  readonly rpc_urls: readonly string[];
  readonly currency_name: string;
  readonly currency_symbol: string;
  readonly currency_decimals: number;
};
type Balance = Readonly<Record<string, unknown>>;

/** @returns at once what is remembered, undefined where there is no such network */
type BalanceOf = (chainId: string, address: string) => Balance | Promise<Balance | undefined>;

const cacheMs = 60_000;
const text = `SELECT rpc_urls, currency_name, currency_symbol, currency_decimals FROM networks WHERE chain_id = $1`;

/** Balances of the native currency, which are remembered for a minute. */
export function createBalances(pool: pg.Pool): BalanceOf {
  const balances = new Map<string, { readonly balance: Balance; readonly until: number }>();
  const networks = new Map<string, Network>();
  const networkOf = async (chainId: string) => {
    const known = networks.get(chainId);
    if (known !== undefined) return known;
    const { rows } = await pool.query<Network>({ name: 'network', text, values: [chainId] });
    const [network] = rows;
    if (network !== undefined) networks.set(chainId, network);
    return network;
  };
  const askAndKeep = async (key: string, chainId: string, address: string) => {
    const network = await networkOf(chainId);
    if (network === undefined) return undefined;
    const until = performance.now() + cacheMs;
    const balance = await askNode(network, chainId, address);
    balances.set(key, { balance, until });
    return balance;
  };
  return (chainId, address) => {
    const wallet = walletOf(address);
    const key = `${chainId}:${wallet}`;
    const found = balances.get(key);
    return found !== undefined && found.until > performance.now()
      ? found.balance
      : askAndKeep(key, chainId, wallet);
  };
}

// A caller asks again for the same wallets, and a keccak costs as much as the rest.
const checked = new Set<string>();
const mostChecked = 10_000;

/** In lower case. @throws Error for a checksum that is wrong */
function walletOf(address: string): string {
  const lower = address.toLowerCase();
  if (lower === address) return lower;
  if (checked.has(address)) return lower;
  if (getAddress(lower) !== address) throw Object.assign(new Error('checksum'), { statusCode: 400 });
  if (checked.size >= mostChecked) checked.clear();
  checked.add(address);
  return lower;
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
    chainId: Number(chainId),
    address,
    balance: amount.toString(),
    decimals,
    symbol: network.currency_symbol,
    name: network.currency_name,
    formatted: `${digits.slice(0, -decimals)}${fraction && `.${fraction}`}`,
    blockNumber: BigInt(block).toString(),
    updatedAt,
  };
}
