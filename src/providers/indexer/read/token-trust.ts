import { lookOf } from '../../../base/look-of.ts';
import { zeroAddress } from '../../../chain/address.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { Config } from '../../../config/config.ts';
import type { TokenTrust } from '../classify/spam.ts';
import type { ContractText } from '../decode/domain.ts';

type ListedToken = NonNullable<Config['INDEX_TOKEN_LIST']>[number];

/** What the list and the texts of a token show. */
export type TokenJudgement = {
  readonly trust: TokenTrust;
  /** Whether the operator lists it; undefined without a list for the network. */
  readonly isListed?: boolean;
  /** The listed token whose symbol this token imitates with other letters; the zero address of the native asset. */
  readonly imitates?: string;
};

/** Judges the tokens of a network. */
export type TokenJudge = (
  token: Pick<ContractText, 'name' | 'symbol'> & { readonly contract: string },
) => TokenJudgement;

/** What tokens of a network may imitate, and the contracts that are the native asset in another form. */
export type JudgedNetwork = Pick<Network, 'chainId' | 'currency' | 'nativeAsset' | 'wrappedNatives'>;

export type TokenJudges = {
  of(network: JudgedNetwork): TokenJudge;
  /** Whether tokens of the network are listed. */
  hasList(chainId: string): boolean;
};

/** Creates the judges of all networks from the operator's list. */
export function createTokenJudges(listed: readonly ListedToken[] = []): TokenJudges {
  const byChain = new Map<string, ListedToken[]>();
  for (const token of listed) {
    const chainId = String(token.chainId);
    byChain.set(chainId, [...(byChain.get(chainId) ?? []), token]);
  }
  const judges = new Map([...byChain].map(([chainId, tokens]) => [chainId, judgeBy(tokens)]));
  const unlisted = judgeBy([]);
  return {
    of: (network) => nativeJudge(network, judges.get(network.chainId) ?? unlisted),
    hasList: (chainId) => byChain.has(chainId),
  };
}

/** Judges a token as spam that writes the symbol or the name of the native asset, unless it is listed. */
function nativeJudge(network: JudgedNetwork, judge: TokenJudge): TokenJudge {
  const { currency, nativeAsset, wrappedNatives } = network;
  const own = new Set([nativeAsset, ...wrappedNatives].map((address) => address?.toLowerCase()));
  const lookOfAny = (text: string) => lookOf(text).toUpperCase();
  const looks = new Set([currency.symbol, currency.name].map(lookOfAny));
  return (token) => {
    const judged = judge(token);
    if (judged.trust === 'verified' || own.has(token.contract)) return judged;
    const isSame = [token.symbol, token.name].some((text) => text !== null && looks.has(lookOfAny(text)));
    return isSame ? { ...judged, trust: 'spam', imitates: zeroAddress } : judged;
  };
}

function judgeBy(tokens: readonly ListedToken[]): TokenJudge {
  const addresses = new Set(tokens.map(({ address }) => address.toLowerCase()));
  const symbols = new Set(tokens.map(({ symbol }) => symbol));
  const looks = new Map(tokens.map(({ symbol, address }) => [lookOf(symbol), address.toLowerCase()]));
  return ({ contract, name, symbol }) => {
    if (addresses.has(contract)) return { trust: 'verified', isListed: true };
    const isListed = addresses.size > 0 ? ({ isListed: false } as const) : {};
    // Networks have several honest tokens of the same symbol, but an honest token does not write it with foreign
    // letters.
    const imitates = symbol === null || symbols.has(symbol) ? undefined : looks.get(lookOf(symbol));
    if (imitates !== undefined) return { trust: 'spam', imitates, ...isListed };
    return { trust: [name, symbol].some(advertises) ? 'spam' : 'unknown', ...isListed };
  };
}

// Tokens that are sent to strangers have a web address, or an instruction, in their name.
const webAddress =
  /https?:|www\.|\b[\w-]+\.(com|net|org|io|xyz|app|site|top|vip|live|finance|gift|claims?|click|link|fun|pro|cc|me|us|eu|lol|info|events?)\b/i;
const callToAct = /\b(claim|airdrop|visit|reward|voucher|bonus|giveaway|redeem)s?\b|\bt\.me\b/i;

/** Returns whether the text of a token advertises something, as most texts of spam do. */
const advertises = (text: string | null): boolean =>
  text !== null && (webAddress.test(text) || callToAct.test(text));
