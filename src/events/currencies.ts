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

const isoCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
