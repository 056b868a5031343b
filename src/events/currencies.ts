/**
 * Checks a currency, which is an ISO 4217 code or a token symbol. Token symbols are registered nowhere and are written
 * in any case (`USDC.e`, `stETH`), so the contract's pattern is their only check. An ISO 4217 code in lower case,
 * however, is a mistake and not a token.
 * @returns a message about the fault, or undefined
 */
export function currencyFault(currency: string): string | undefined {
  const capitals = currency.toUpperCase();
  if (currency === capitals || !isoCodes.has(capitals)) return undefined;
  return `currency must be written in capitals: ${capitals}`;
}

/**
 * The decimals of the currency's smallest unit: 2 for EUR, 0 for JPY, and 2 without a currency. Undefined for a token
 * symbol, since only its contract knows its decimals.
 */
export function decimalsOf(currency: string | null): number | undefined {
  if (currency !== null && !isoCodes.has(currency)) return undefined;
  // XXX is the code of ISO 4217 for no currency.
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: currency ?? 'XXX' });
  return format.resolvedOptions().maximumFractionDigits;
}

const isoCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
