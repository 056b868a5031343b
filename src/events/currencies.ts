/**
 * Says what is wrong with a currency, an ISO 4217 code or a token symbol. No register of token symbols
 * exists and they come in any case (`USDC.e`, `stETH`), so the contract's pattern is all that is asked of
 * them; a code of ISO 4217 in small letters, however, is no token but a slip.
 * @returns the fault, or undefined
 */
export function currencyFault(currency: string): string | undefined {
  const capitals = currency.toUpperCase();
  if (currency === capitals || !isoCodes.has(capitals)) return undefined;
  return `currency must be written in capitals: ${capitals}`;
}

const isoCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
