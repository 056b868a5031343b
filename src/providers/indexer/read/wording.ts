import { formatUnits } from '../../../chain/decimal.ts';
import type { Network } from '../../../chain/network.ts';
import type { ContractText } from '../store/contract-store.ts';
import type { Flow } from './flows.ts';

/** The network's currency and the known texts of token contracts, for the wording of a record. */
export type ContractTexts = ReadonlyMap<string, ContractText>;

/** Shortens an address as the hosted provider does: `0x` and two digits, three dots, four digits. */
export function shortAddress(address: string): string {
  return `${address.slice(0, 4)}...${address.slice(-4)}`;
}

/**
 * Formats an amount for people: with groups of thousands; from 1 up with at most two decimals; below 1 with three
 * significant digits.
 */
export function shortAmount(amount: bigint, decimals: number): string {
  const [whole = '0', fraction = ''] = formatUnits(amount, decimals).split('.');
  if (fraction === '') return group(whole);
  const zeros = fraction.length - fraction.replace(/^0+/, '').length;
  const digits = whole === '0' ? zeros + 3 : 2;
  if (digits >= fraction.length)
    return `${group(whole)}.${whole === '0' ? fraction : fraction.padEnd(2, '0')}`;
  const rounded = (
    BigInt(whole + fraction.slice(0, digits)) + (fraction.charAt(digits) >= '5' ? 1n : 0n)
  ).toString();
  const padded = rounded.padStart(digits + 1, '0');
  const kept = padded.slice(-digits);
  const tail = BigInt(kept) === 0n ? '' : whole === '0' ? kept.replace(/0+$/, '') : kept;
  return `${group(padded.slice(0, -digits))}${tail === '' ? '' : `.${tail}`}`;
}

function group(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',');
}

const maxSymbol = 32;

/** A symbol that is safe in a sentence. The contract chose it, so characters that reorder or hide text are removed. */
export function symbolOf(token: string, texts: ContractTexts): string {
  const symbol = (texts.get(token)?.symbol ?? '').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return symbol === '' ? shortAddress(token) : symbol.slice(0, maxSymbol);
}

export type Wording = { readonly currency: Network['currency']; readonly texts: ContractTexts };

/** Such as `1,300 USDT`, `0.5 ETH`, `CASK #41` or `3 CASK #41`. */
export function assetText(
  { asset, amount }: Pick<Flow, 'asset' | 'amount'>,
  { currency, texts }: Wording,
): string {
  if (asset.kind === 'native') return `${shortAmount(amount, currency.decimals)} ${currency.symbol}`;
  const symbol = symbolOf(asset.token, texts);
  if (asset.kind === 'erc20') {
    return `${shortAmount(amount, texts.get(asset.token)?.decimals ?? 0)} ${symbol}`;
  }
  const count = amount === 1n ? '' : `${group(amount.toString())} `;
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
