import { Interface } from 'ethers';
import { problem } from '../../../base/errors.ts';
import { formatUnits } from '../../../chain/decimal.ts';
import { wordOf } from '../../../chain/words.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { ListQuestion, TokenPage, WalletToken } from '../../shared/provider.ts';
import { findContracts } from '../store/tokens/contract-store.ts';
import { findCoverage } from './coverage-store.ts';
import { readTokenPlace } from './position.ts';
import type { StateReader } from './state-reader.ts';
import { listSeenTokens, type SeenToken } from './token-page-store.ts';
import type { TokenJudge, TokenJudges } from './token-trust.ts';

const abi = new Interface(['function balanceOf(address) view returns (uint256)']);

type Options = { readonly db: Database; readonly states: StateReader; readonly judges: TokenJudges };

/**
 * Returns the ERC-20 tokens of a wallet, with the balances that the contracts report at the head of the index.
 * @throws problem `tokens_unavailable`, `service_unavailable`, or `cursor_invalid` for a malformed position
 */
export async function listTokens(
  { db, states, judges }: Options,
  { network, address: wallet, limit, position, filter = {} }: ListQuestion,
): Promise<TokenPage> {
  const { chainId } = network;
  const after = position === undefined ? undefined : readTokenPlace(position);
  const found = await listSeenTokens(db, { chainId, wallet, limit: limit + 1, after });
  if (found === undefined) throw problem('service_unavailable');
  const { completeTo } = found;
  const seen = found.tokens.slice(0, limit);
  const coins = await coinsOf(db, chainId, seen);
  const data = abi.encodeFunctionData('balanceOf', [wallet]);
  const calls = coins.map(({ contract }) => ({ to: contract, data }));
  const judge = judges.of(network);
  const key = `tokens:${wallet}:${after ?? ''}:${limit}`;
  const answers = await states.call({ network, ...completeTo }, key, calls).catch((cause: unknown) => {
    throw problem('tokens_unavailable', {}, { cause });
  });
  const entries = coins.flatMap((coin, place): WalletToken[] => {
    const balance = wordOf(answers[place]) ?? 0n;
    return balance === 0n ? [] : [toToken(coin, balance, judge)];
  });
  const coverage = await findCoverage(db, chainId, {});
  return {
    entries: filter.includeSpam === false ? entries.filter((token) => !token.possible_spam) : entries,
    next: found.tokens.length > limit ? seen.at(-1)?.facet : undefined,
    completeTo,
    ...(coverage && { coverage }),
  };
}

type Coin = Awaited<ReturnType<typeof coinsOf>>[number];

/** Returns the ERC-20 tokens among the contracts, with their texts. */
async function coinsOf(db: Database, chainId: string, seen: readonly SeenToken[]) {
  const contracts = seen.flatMap((facet) => facet.contracts);
  const texts = new Map((await findContracts(db, chainId, contracts)).map((text) => [text.contract, text]));
  return seen.flatMap((facet) =>
    facet.contracts.flatMap((contract) => {
      const text = texts.get(contract);
      // ERC-404 is both an ERC-20 and an ERC-721.
      const isCoin = text?.standard === 20 || (text?.decimals ?? 0) > 0;
      return text !== undefined && isCoin ? [{ ...text, isClean: facet.isClean }] : [];
    }),
  );
}

function toToken(coin: Coin, balance: bigint, judge: TokenJudge): WalletToken {
  const { contract, name, symbol, decimals, isClean } = coin;
  const { trust, isListed, imitates } = judge(coin);
  return {
    token_address: contract,
    name,
    symbol,
    decimals,
    logo: null,
    balance: balance.toString(),
    balance_formatted: decimals === null ? null : formatUnits(balance, decimals),
    possible_spam: trust !== 'verified' && (!isClean || trust === 'spam'),
    ...(isListed !== undefined && { verified_contract: isListed }),
    ...(imitates !== undefined && { imitates }),
  };
}
