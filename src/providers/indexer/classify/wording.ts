import { formatUnits } from '../../../chain/decimal.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { ContractText } from '../decode/domain.ts';
import type { Flow } from './flows.ts';
import type { TokenTrust } from './spam.ts';

type JudgedText = ContractText & { readonly trust?: TokenTrust; readonly imitates?: string };

/** The known texts of token contracts, for the wording of a record, and what the texts show of the tokens. */
export type ContractTexts = ReadonlyMap<string, JudgedText>;

/** Shortens an address as the hosted provider does: `0x` and two digits, three dots, four digits. */
export function shortAddress(address: string): string {
  return `${address.slice(0, 4)}...${address.slice(-4)}`;
}

const significant = 4;
// No asset has as many; contracts choose what they log.
const mostDigits = 24;

/**
 * Formats an amount for people: with groups of thousands, four significant digits, and from 1 up at least two
 * decimals where there are any. The rest is cut off and not rounded up, so that nobody reads more than was moved.
 */
export function shortAmount(amount: bigint, decimals: number): string {
  const [whole = '0', fraction = ''] = formatUnits(amount, decimals).split('.');
  if (whole.length > mostDigits) return `more than 10^${mostDigits}`;
  const zeros = fraction.length - fraction.replace(/^0+/, '').length;
  const digits = whole === '0' ? zeros + significant : Math.max(2, significant - whole.length);
  const kept = fraction.slice(0, digits).replace(/0+$/, '');
  if (kept === '') return group(whole);
  return `${group(whole)}.${whole === '0' ? kept : kept.padEnd(2, '0')}`;
}

function group(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',');
}

const maxSymbol = 32;

/**
 * A symbol that is safe in a sentence. The contract chose it, so characters that reorder or hide text are removed. Of a
 * token that imitates another asset it is the address.
 */
export function symbolOf(token: string, texts: ContractTexts): string {
  if (texts.get(token)?.imitates !== undefined) return shortAddress(token);
  const symbol = (texts.get(token)?.symbol ?? '').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return symbol === '' ? shortAddress(token) : symbol.slice(0, maxSymbol);
}

export type Wording = { readonly currency: Network['currency']; readonly texts: ContractTexts };

/**
 * Returns a text such as `1,300 USDT`, `0.5 ETH`, `CASK #41` or `3 CASK #41`. Without decimals an amount of a token
 * means nothing and is not shown.
 */
export function assetText(
  { asset, amount }: Pick<Flow, 'asset' | 'amount'>,
  { currency, texts }: Wording,
): string {
  if (asset.kind === 'native') return `${shortAmount(amount, currency.decimals)} ${currency.symbol}`;
  const symbol = symbolOf(asset.token, texts);
  if (asset.kind === 'erc20') {
    const decimals = texts.get(asset.token)?.decimals ?? undefined;
    if (decimals === undefined && amount > 0n) return `an amount of ${symbol}`;
    return `${shortAmount(amount, decimals ?? 0)} ${symbol}`;
  }
  const count = amount === 1n ? '' : `${shortAmount(amount, 0)} `;
  return `${count}${symbol} #${shortId(asset.tokenId)}`;
}

// Ids that are hashes mean nothing to a reader.
function shortId(tokenId: bigint): string {
  const text = tokenId.toString();
  return text.length <= 12 ? text : `${text.slice(0, 4)}...${text.slice(-4)}`;
}

/** Names up to two assets; counts more. */
export function assetsText(flows: readonly Flow[], wording: Wording): string {
  const [first, second] = flows.map((flow) => assetText(flow, wording));
  if (first === undefined) return 'nothing';
  if (flows.length > 2) return `${first} and ${flows.length - 1} more`;
  return second === undefined ? first : `${first} and ${second}`;
}
