import type { ContractText } from '../decode/domain.ts';

// Tokens that are sent to strangers carry an address of the web, or say what to do there.
const webAddress =
  /https?:|www\.|\b[\w-]+\.(com|net|org|io|xyz|app|site|top|vip|live|finance|gift|claims?|click|link|fun|pro|cc|me|us|eu|lol|info|events?)\b/i;
const callToAct = /\b(claim|airdrop|visit|reward|voucher|bonus|giveaway|redeem)s?\b|\bt\.me\b/i;

/** Whether the texts of a token advertise something, as those of most spam do. */
export function advertises({ name, symbol }: Pick<ContractText, 'name' | 'symbol'>): boolean {
  return [name, symbol].some((text) => text !== null && (webAddress.test(text) || callToAct.test(text)));
}
