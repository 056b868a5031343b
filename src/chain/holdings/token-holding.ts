import { Interface, type JsonRpcApiProvider } from 'ethers';
import type { LimitFunction } from 'p-limit';
import { readContract } from '../rpc/client/contract-call.ts';
import { quantity } from '../rpc/transport/quantity.ts';
import { accountOf, sizeOf, wordOf } from '../words.ts';

export type TokenStandard = 'ERC721' | 'ERC1155' | 'ERC20';

/** A contract, or a token of it. The contract is in EIP-55. */
type TokenPlace = { readonly contract: string; readonly tokenId: string | null };

/** What a wallet owns of a contract, or why that cannot be said of any wallet. */
export type Holding =
  | {
      readonly standard: TokenStandard;
      readonly balance: bigint;
      /** Tokens of the wallet, perhaps not all; undefined where the contract does not list them. */
      readonly tokenIds: readonly string[] | undefined;
    }
  | { readonly standard: TokenStandard | null; readonly undecidable: string };

export type HoldingQuestion = TokenPlace & {
  /** In lower case. */
  readonly wallet: string;
  /** `listed` finds tokens of the wallet; ids are of tokens whose owners are asked for. */
  readonly tokens: 'uncounted' | 'listed' | readonly string[];
};

const abi = new Interface([
  'function supportsInterface(bytes4) view returns (bool)',
  'function ownerOf(uint256) view returns (address)',
  'function tokenOfOwnerByIndex(address, uint256) view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function decimals() view returns (uint8)',
]);
// An overloaded name would need its signature in each call of ethers.
const editions = new Interface(['function balanceOf(address, uint256) view returns (uint256)']);

const interfaces = {
  erc721: '0x80ac58cd',
  enumerable: '0x780e9d63',
  erc1155: '0xd9b67a26',
  // ERC-165: no contract has this interface.
  none: '0xffffffff',
};

// Ample for any real token, and too little for a hostile one to keep a node busy.
const gas = 5_000_000n;
/** So many tokens of a wallet are listed at most. */
export const mostTokens = 100;

type Call = (name: string, ...values: readonly unknown[]) => Promise<string | undefined>;

/**
 * Reads what a wallet owns at a block. A contract that fails, or answers something else than its standard says, is not decidable.
 * @throws when the node does not answer
 */
export async function readHolding(
  node: JsonRpcApiProvider,
  block: bigint,
  { contract, tokenId, wallet, tokens }: HoldingQuestion,
  few: LimitFunction,
): Promise<Holding> {
  const send = (data: string) => few(() => readContract(node, { to: contract, data, gas }, block));
  const call: Call = (name, ...values) => send(abi.encodeFunctionData(name, values));
  const units = async (id: string) =>
    number(await send(editions.encodeFunctionData('balanceOf', [wallet, id])));
  const supports = async (id: string) => number(await call('supportsInterface', id)) === 1n;
  const owns = async (id: string) => {
    const answer = await call('ownerOf', id);
    // Most contracts revert for a token that does not exist.
    if (answer === undefined || answer === '0x') return false;
    const owner = sizeOf(answer) === 32 ? accountOf(answer) : undefined;
    return owner === undefined ? undefined : owner === wallet;
  };

  const [code, isErc721, isErc1155, isAnything] = await Promise.all([
    few(() => node.send('eth_getCode', [contract, quantity(block)])),
    supports(interfaces.erc721),
    supports(interfaces.erc1155),
    supports(interfaces.none),
  ]);
  if (code === '0x') return undecidable(null, 'There is no contract at this address.');
  if (isAnything) return undecidable(null, 'The contract claims to have every interface.');

  if (isErc721) {
    if (tokenId !== null) return oneToken(tokenId, await owns(tokenId));
    const balance = number(await call('balanceOf', wallet));
    if (balance === undefined) return undecidable('ERC721', 'The balance of the contract is no number.');
    if (tokens === 'uncounted') return { standard: 'ERC721', balance, tokenIds: undefined };
    if (tokens !== 'listed') {
      const owned = await Promise.all(tokens.map(async (id) => ((await owns(id)) === true ? [id] : [])));
      return { standard: 'ERC721', balance, tokenIds: owned.flat() };
    }
    const isListed = balance === 0n || (await supports(interfaces.enumerable));
    return {
      standard: 'ERC721',
      balance,
      tokenIds: isListed ? await listTokens(call, wallet, balance) : undefined,
    };
  }
  if (isErc1155) {
    if (tokenId === null)
      return undecidable('ERC1155', 'An entry of an ERC-1155 needs a token id: add /<tokenId>.');
    const balance = await units(tokenId);
    return balance === undefined
      ? undecidable('ERC1155', 'The balance of the contract is no number.')
      : { standard: 'ERC1155', balance, tokenIds: undefined };
  }
  return tokenId === null ? readFungible(call, wallet) : readOlder(tokenId, owns, units);
}

/** Contracts without ERC-165 that are asked for a token. */
async function readOlder(
  tokenId: string,
  owns: (id: string) => Promise<boolean | undefined>,
  units: (id: string) => Promise<bigint | undefined>,
): Promise<Holding> {
  const [isOwned, balance] = await Promise.all([owns(tokenId), units(tokenId)]);
  if (isOwned === true) return oneToken(tokenId, isOwned);
  if (balance !== undefined) return { standard: 'ERC1155', balance, tokenIds: undefined };
  return undecidable(null, 'The contract names no owner of this token.');
}

async function readFungible(call: Call, wallet: string): Promise<Holding> {
  const [balance, supply, decimals] = await Promise.all([
    call('balanceOf', wallet).then(number),
    call('totalSupply').then(number),
    call('decimals').then(number),
  ]);
  // `decimals` is optional in ERC-20.
  const isErc20 = supply !== undefined && (decimals === undefined || decimals <= 255n);
  if (balance === undefined || !isErc20)
    return undecidable(null, 'The contract is no ERC-721, ERC-1155 or ERC-20.');
  return { standard: 'ERC20', balance, tokenIds: undefined };
}

/** The first tokens of a wallet; undefined where the contract fails to list one, or lists one twice. */
async function listTokens(call: Call, wallet: string, balance: bigint): Promise<string[] | undefined> {
  const count = balance < BigInt(mostTokens) ? Number(balance) : mostTokens;
  const asked = Array.from({ length: count }, (_, index) => call('tokenOfOwnerByIndex', wallet, index));
  const found = (await Promise.all(asked)).map(number);
  const ids = found.flatMap((id) => (id === undefined ? [] : [id.toString()]));
  // A contract that lists a token twice does not list what the wallet has.
  return new Set(ids).size === count ? ids : undefined;
}

function oneToken(tokenId: string, isOwned: boolean | undefined): Holding {
  if (isOwned === undefined) return undecidable('ERC721', 'The owner of the token is no address.');
  return { standard: 'ERC721', balance: isOwned ? 1n : 0n, tokenIds: isOwned ? [tokenId] : [] };
}

const undecidable = (standard: TokenStandard | null, reason: string): Holding => ({
  standard,
  undecidable: reason,
});

/** A number that is all of an answer. */
const number = (answer: string | undefined): bigint | undefined =>
  answer !== undefined && sizeOf(answer) === 32 ? wordOf(answer) : undefined;
