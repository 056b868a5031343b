import { randomBytes } from 'node:crypto';
import { Interface } from 'ethers';
import { readTokenText } from '../../../chain/token-text.ts';
import { wordOf } from '../../../chain/words.ts';
import type { Database } from '../../../contract/transaction.ts';
import { listUnreadContracts, saveContractTexts } from '../store/tokens/contract-store.ts';
import { applyRefreshes } from '../store/tokens/metadata-store.ts';
import { dueAfter, textDueAfter } from '../store/tokens/rests.ts';
import { listUnreadTokens, saveTokenUris, wakeTokens } from '../store/tokens/token-store.ts';
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
 * URIs again when their contract announces a change. A missing or malformed value is stored as null. Texts that are
 * missing or empty are read again after a minute, an hour and a day. Calls that nodes do not answer, though they answer
 * others, are sent again a few times, after the calls that were not sent yet.
 */
export function createTokenFiller({ chainId, calls, db }: FillerOptions): TokenFiller {
  const fillContracts = async () => {
    const unread = await listUnreadContracts(db, chainId, contractsAtOnce);
    const questions = unread.flatMap(({ contract: to }) =>
      ['name', 'symbol', 'decimals'].map((name) => ({ to, data: abi.encodeFunctionData(name) })),
    );
    const answers = await calls.readMany(questions, (answer) => ({
      text: textOf(answer),
      number: decimalsOf(answer),
    }));
    const read = unread.map(({ contract, standard, tries }) => {
      const own = answers.splice(0, 3);
      const [name, symbol, decimals] = own;
      const texts = {
        name: name?.text ?? null,
        symbol: symbol?.text ?? null,
        decimals: decimals?.number ?? null,
      };
      const isWhole = texts.name && texts.symbol && (standard !== 20 || texts.decimals !== null);
      const due = own.includes(undefined) ? dueAfter(tries) : isWhole ? undefined : textDueAfter(tries);
      return { contract, ...texts, due };
    });
    if (read.length > 0) await saveContractTexts(db, chainId, read);
    return unread.length === contractsAtOnce;
  };

  const fillTokens = async () => {
    await wakeTokens(db, chainId);
    // A contract may have any number of tokens. So each batch begins anywhere.
    const from = `0x${randomBytes(20).toString('hex')}`;
    const unread = await listUnreadTokens(db, chainId, { limit: tokensAtOnce, from });
    const answers = await calls.readMany(
      unread.map(({ contract, tokenId, standard }) => ({
        to: contract,
        data: abi.encodeFunctionData(standard === 'ERC721' ? 'tokenURI' : 'uri', [tokenId]),
      })),
      (answer) => textOf(answer, maxUriLength),
    );
    const read = unread.map(({ contract, tokenId, standard, tries }, index) => {
      const uri = answers[index];
      const tokenUri = uri && standard === 'ERC1155' ? withId(uri, tokenId) : uri;
      return { contract, tokenId, tries, tokenUri };
    });
    if (read.length > 0) await saveTokenUris(db, chainId, read);
    return unread.length === tokensAtOnce;
  };

  return {
    fill: () => inEachPart(() => applyRefreshes(db, chainId), fillContracts, fillTokens),
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
