import { Interface, type JsonRpcApiProvider } from 'ethers';
import { readContract } from './rpc/client/contract-call.ts';
import { quantity } from './rpc/transport/quantity.ts';
import { readTokenText } from './token-text.ts';
import { wordOf } from './words.ts';

/** An amount, and the block at which a node read it. */
export type NativeBalance = { readonly balance: bigint; readonly blockNumber: bigint };

/** The metadata is null where the contract does not give it, or gives nothing sensible. */
export type Erc20Balance = NativeBalance & {
  readonly decimals: number | null;
  readonly symbol: string | null;
  readonly name: string | null;
};

/** There is no code at the address, its `balanceOf` fails, or it is an ERC-721. */
export class NotErc20Error extends Error {
  readonly contract: string;

  constructor(contract: string, reason: string) {
    super(`${contract} is no ERC-20: ${reason}`);
    this.name = 'NotErc20Error';
    this.contract = contract;
  }
}

const abi = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
  'function name() view returns (string)',
  'function supportsInterface(bytes4) view returns (bool)',
]);
const erc721 = '0x80ac58cd';
// ERC-165: a contract that says yes to this one says yes to everything.
const noInterface = '0xffffffff';

// Ample for any real token, and too little for a hostile one to keep a node busy.
const callGas = 5_000_000n;

/** Reads the amount of the native currency at an address. Rejects when no node answers. */
export async function readNativeBalance(node: JsonRpcApiProvider, address: string): Promise<NativeBalance> {
  const blockNumber = BigInt(await node.send('eth_blockNumber', []));
  const balance = BigInt(await node.send('eth_getBalance', [address, quantity(blockNumber)]));
  return { balance, blockNumber };
}

/**
 * Reads amount and metadata of a token at one block, in two round trips; the second sends all calls in parallel.
 * @throws NotErc20Error; any other rejection means that no node gave a valid answer
 */
export async function readErc20Balance(
  node: JsonRpcApiProvider,
  contract: string,
  address: string,
): Promise<Erc20Balance> {
  const blockNumber = BigInt(await node.send('eth_blockNumber', []));
  const call = (name: string, values: readonly unknown[] = []) =>
    readContract(
      node,
      { to: contract, data: abi.encodeFunctionData(name, values), gas: callGas },
      blockNumber,
    );
  const [code, balance, decimals, symbol, name, isErc721, saysYesAlways] = await Promise.all([
    node.send('eth_getCode', [contract, quantity(blockNumber)]),
    call('balanceOf', [address]),
    call('decimals'),
    call('symbol'),
    call('name'),
    call('supportsInterface', [erc721]),
    call('supportsInterface', [noInterface]),
  ]);
  // The code is read because precompiled contracts answer calls without having any.
  if (code === '0x') throw new NotErc20Error(contract, 'no code');
  if (isTrue(isErc721) && !isTrue(saysYesAlways)) throw new NotErc20Error(contract, 'it is an ERC-721');
  const amount = wordOf(balance);
  if (amount === undefined) throw new NotErc20Error(contract, 'balanceOf fails');
  return {
    balance: amount,
    blockNumber,
    decimals: readDecimals(decimals),
    symbol: symbol === undefined ? null : readTokenText(symbol),
    name: name === undefined ? null : readTokenText(name),
  };
}

function isTrue(data: string | undefined): boolean {
  return wordOf(data) === 1n;
}

function readDecimals(data: string | undefined): number | null {
  const value = wordOf(data);
  return value === undefined || value > 255n ? null : Number(value);
}
