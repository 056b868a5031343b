import { id } from 'ethers';
import type { Answer } from './node/flaw.ts';
import { type Asked, wordOfHex } from './odd-chain.ts';

export const account = (pair: string): string => `0x${pair.repeat(20)}`;

const transferTopic = id('Transfer(address,address,uint256)');
const approvalTopic = id('Approval(address,address,uint256)');

type Value = bigint | number;

/** A transfer as an ERC-20 logs it. */
export const transferLog = (address: string, from: string, to: string, value: Value) => ({
  address,
  topics: [transferTopic, wordOfHex(from), wordOfHex(to)],
  data: wordOfHex(value),
});

/** A transfer whose value is a topic, as an ERC-721 logs it. */
export const nftLog = (address: string, from: string, to: string, value: Value) => ({
  address,
  topics: [transferTopic, wordOfHex(from), wordOfHex(to), wordOfHex(value)],
  data: '0x',
});

export const approvalLog = (address: string, owner: string, spender: string, value: Value) => ({
  address,
  topics: [approvalTopic, wordOfHex(owner), wordOfHex(spender)],
  data: wordOfHex(value),
});

export const approvalForAllLog = (address: string, owner: string, spender: string) => ({
  address,
  topics: [id('ApprovalForAll(address,address,bool)'), wordOfHex(owner), wordOfHex(spender)],
  data: wordOfHex(1),
});

const textWords = (text: string) => {
  const bytes = Buffer.from(text);
  return `${wordOfHex(32)}${wordOfHex(bytes.length).slice(2)}${bytes.toString('hex').padEnd(64, '0')}`;
};

/** What a token answers. A function that is left out fails. */
type TokenAnswers = {
  readonly name?: string;
  readonly symbol?: string;
  readonly decimals?: number;
  readonly isNft?: boolean;
  readonly owner?: (block: unknown) => string | undefined;
  readonly allowance?: Value;
  readonly balance?: Value;
};

const selector = (signature: string) => id(signature).slice(0, 10);
const functions: Readonly<Record<string, (token: TokenAnswers, block: unknown) => string | undefined>> = {
  [selector('name()')]: ({ name }) => name && textWords(name),
  [selector('symbol()')]: ({ symbol }) => symbol && textWords(symbol),
  [selector('decimals()')]: ({ decimals }) => (decimals === undefined ? undefined : wordOfHex(decimals)),
  [selector('ownerOf(uint256)')]: ({ owner }, block) => {
    const found = owner?.(block);
    return found && wordOfHex(found);
  },
  [selector('allowance(address,address)')]: ({ allowance }) =>
    allowance === undefined ? undefined : wordOfHex(allowance),
  [selector('balanceOf(address)')]: ({ balance = 0 }) => wordOfHex(balance),
  [selector('isApprovedForAll(address,address)')]: () => wordOfHex(1),
};

/** Answers `eth_call` as tokens do, by their contracts or for all. */
export const tokensAnswer =
  (tokenOf: (contract: string) => TokenAnswers) =>
  ({ method, params: [call, block] }: Asked): Answer | undefined => {
    if (method !== 'eth_call') return undefined;
    const { to = '', data = '' } = call as { to?: string; data?: string }; // of a call
    const token = tokenOf(to.toLowerCase());
    const isAsked721 = data.startsWith(selector('supportsInterface(bytes4)'));
    const is721 =
      token.isNft === undefined ? undefined : wordOfHex(Number(token.isNft && data.includes('80ac58cd')));
    const result = isAsked721 ? is721 : functions[data.slice(0, 10)]?.(token, block);
    return result === undefined ? undefined : { result };
  };

/** Answers `eth_getCode`. Accounts that are left out have none. */
export const codesAnswer =
  (codes: Readonly<Record<string, string>>) =>
  ({ method, params: [address] }: Asked): Answer | undefined =>
    method === 'eth_getCode' ? { result: codes[String(address).toLowerCase()] ?? '0x' } : undefined;

/** The first answer of several. */
export const firstOf =
  <T>(...answers: readonly ((asked: Asked) => T | undefined)[]) =>
  (asked: Asked): T | undefined => {
    for (const answer of answers) {
      const found = answer(asked);
      if (found !== undefined) return found;
    }
    return undefined;
  };
