import { Interface } from 'ethers';
import { readTokenText } from '../../../chain/token-text.ts';
import { wordOf } from '../../../chain/words.ts';
import type { Database } from '../../../contract/transaction.ts';
import { listUnreadContracts, saveContractTexts } from '../store/tokens/contract-store.ts';
import { applyRefreshes } from '../store/tokens/metadata-store.ts';
import {
  listUnreadTokens,
  saveTokenUris,
  type UnreadToken,
  wakeTokens,
} from '../store/tokens/token-store.ts';
import type { ContractCalls } from './contract-calls.ts';
import { inEachPart } from './each-part.ts';

const abi = new Interface([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function tokenURI(uint256) view returns (string)',
  'function uri(uint256) view returns (string)',
]);

// Images stored on the chain have some tens of kilobytes; a longer answer counts as none.
const maxUriLength = 100_000;
const contractsAtOnce = 100;
const tokensAtOnce = 100;
// A contract may have any number of tokens, and burn all the gas of each call.
const tokensOfOne = 20;

export type TokenFiller = {
  /** Reads the texts of a batch of contracts and the URIs of a batch of tokens. @returns whether there may be more */
  fill(): Promise<boolean>;
};

type FillerOptions = {
  readonly chainId: string;
  readonly calls: ContractCalls;
  readonly db: Database;
};

/**
 * Reads names, symbols, decimals and token URIs from the contracts that the index has seen. Each is read once, token
 * URIs again when their contract announces a change. A missing or malformed value is stored as null. Calls that nodes
 * do not answer, though they answer others, are sent again a few times, after the calls that were not sent yet.
 */
export function createTokenFiller({ chainId, calls, db }: FillerOptions): TokenFiller {
  const nextUnread = createTurns(db, chainId);
  const fillContracts = async () => {
    const unread = await listUnreadContracts(db, chainId, contractsAtOnce);
    const questions = unread.flatMap(({ contract, standard }) => [
      { to: contract, data: abi.encodeFunctionData('name') },
      { to: contract, data: abi.encodeFunctionData('symbol') },
      ...(standard === 20 ? [{ to: contract, data: abi.encodeFunctionData('decimals') }] : []),
    ]);
    const answers = await calls.readMany(questions, (answer) => ({
      text: textOf(answer),
      number: decimalsOf(answer),
    }));
    const read = unread.map(({ contract, standard }) => {
      const own = answers.splice(0, standard === 20 ? 3 : 2);
      const [name, symbol, decimals] = own;
      return {
        contract,
        isAnswered: !own.includes(undefined),
        name: name?.text ?? null,
        symbol: symbol?.text ?? null,
        decimals: decimals?.number ?? null,
      };
    });
    if (read.length > 0) await saveContractTexts(db, chainId, read);
    return unread.length === contractsAtOnce;
  };

  const fillTokens = async () => {
    await wakeTokens(db, chainId);
    const { tokens: unread, mayBeMore } = await nextUnread();
    const answers = await calls.readMany(
      unread.map(({ contract, tokenId, standard }) => ({
        to: contract,
        data: abi.encodeFunctionData(standard === 'ERC721' ? 'tokenURI' : 'uri', [tokenId]),
      })),
      (answer) => textOf(answer, maxUriLength),
    );
    const read = unread.map(({ contract, tokenId, standard }, index) => {
      const uri = answers[index];
      return { contract, tokenId, tokenUri: uri && standard === 'ERC1155' ? withId(uri, tokenId) : uri };
    });
    if (read.length > 0) await saveTokenUris(db, chainId, read);
    return mayBeMore;
  };

  return {
    fill: () => inEachPart(() => applyRefreshes(db, chainId), fillContracts, fillTokens),
  };
}

// Before any address.
const first = '0x';

type Batch = { readonly tokens: readonly UnreadToken[]; readonly mayBeMore: boolean };

/**
 * Creates a function that returns the next tokens to read: some of each contract, from contract to contract and then
 * from the first again. Where contracts are few, their other tokens fill the batch.
 */
function createTurns(db: Database, chainId: string): () => Promise<Batch> {
  let after = first;
  const list = (ofOne: number) => listUnreadTokens(db, chainId, { limit: tokensAtOnce, ofOne, after });
  const nameOf = ({ contract, tokenId }: UnreadToken) => `${contract} ${tokenId}`;
  return async () => {
    const isFromFirst = after === first;
    const some = await list(tokensOfOne);
    after = some.length === tokensAtOnce ? (some.at(-1)?.contract ?? first) : first;
    if (!isFromFirst || after !== first) return { tokens: some, mayBeMore: true };
    // No contract was left out then.
    if (some.length < tokensOfOne) return { tokens: some, mayBeMore: false };
    const names = new Set(some.map(nameOf));
    const others = (await list(tokensAtOnce)).filter((token) => !names.has(nameOf(token)));
    const tokens = [...some, ...others].slice(0, tokensAtOnce);
    return { tokens, mayBeMore: tokens.length === tokensAtOnce };
  };
}

function textOf(data: string | undefined, maxLength?: number): string | null {
  return data === undefined ? null : readTokenText(data, maxLength);
}

function decimalsOf(data: string | undefined): number | null {
  const value = wordOf(data);
  return value === undefined || value > 255n ? null : Number(value);
}

/**
 * ERC-1155: one URI serves all tokens. Clients replace `{id}` with the token id, as 64 hex digits. A URI that repeats
 * only `{id}` would be sixteen times as long.
 */
function withId(uri: string, tokenId: bigint): string | null {
  const own = uri.replaceAll('{id}', tokenId.toString(16).padStart(64, '0'));
  return own.length > maxUriLength ? null : own;
}
