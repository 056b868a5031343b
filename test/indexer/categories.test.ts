import { id } from 'ethers';
import { describe, expect, test } from 'vitest';
import { zeroAddress } from '../../src/chain/address.ts';
import documents from '../../src/contract/generated/blockchain.json' with { type: 'json' };
import { methodName } from '../../src/providers/indexer/classify/methods.ts';
import { describeTransaction } from '../../src/providers/indexer/classify/rules.ts';
import type {
  StoredMoves,
  StoredTransaction,
  WalletTransaction,
} from '../../src/providers/indexer/classify/stored-moves.ts';
import { shortAmount } from '../../src/providers/indexer/classify/wording.ts';
import type { Approval, Erc20Movement, NftMovement } from '../../src/providers/indexer/decode/domain.ts';
import { toRecord } from '../../src/providers/indexer/read/to-record.ts';
import { walletMoves } from '../../src/providers/indexer/store/rows/wallet-moves.ts';
import { decodeRecorded, recordedBlocks } from '../support/recorded-chain.ts';
import { alice, bob, carol } from './raw-answers.ts';

const [usdt, gem, cask] = ['0xd1', '0xd2', '0xd3'].map((start) => start.padEnd(38, '0').concat('beef')) as [
  string,
  string,
  string,
];
const texts = new Map([
  [usdt, { name: 'Tether USD', symbol: 'USDT', decimals: 6 }],
  [gem, { name: 'Gem', symbol: 'GEM', decimals: 18 }],
  [cask, { name: 'Casks', symbol: 'CASK', decimals: null }],
]);
const wording = { currency: { name: 'Ether', symbol: 'ETH', decimals: 18 }, texts };
const ether = 10n ** 18n;

type Parts = { readonly tx?: Partial<StoredTransaction>; readonly moves?: Partial<StoredMoves> };

/** A transaction that Alice signed, as Alice sees it. */
function seen({ tx = {}, moves = {} }: Parts): WalletTransaction {
  return {
    wallet: alice,
    blockNumber: 7n,
    index: 0,
    hash: `0x${'77'.repeat(32)}`,
    blockHash: `0x${'bb'.repeat(32)}`,
    internalCalls: null,
    blockTime: new Date('2027-03-02T10:15:30Z'),
    transaction: {
      nonce: 1n,
      from: alice,
      to: bob,
      created: null,
      value: 0n,
      gas: 1n,
      gasPrice: 1n,
      gasUsed: 1n,
      fee: 1n,
      feePayer: null,
      succeeded: true,
      selector: '0x12345678',
      ...tx,
    },
    moves: {
      native: [],
      erc20: [],
      nft: [],
      approvals: [],
      borrowed: false,
      recipients: 0,
      delegates: [],
      ...moves,
    },
  };
}

const native = (from: string, to: string, value: bigint) => ({ from, to, value, internal: true });
const coin = (token: string, from: string, to: string, value: bigint): Erc20Movement => ({
  token,
  from,
  to,
  value,
  logIndex: 0,
  kind: 'transfer',
});
const nft = (from: string, to: string, tokenId = 41n, amount = 1n): NftMovement => ({
  token: cask,
  tokenId,
  amount,
  from,
  to,
  standard: 'ERC721',
  operator: null,
  batch: false,
  logIndex: 0,
  part: 0,
});
const approval = (parts: Partial<Approval>): Approval => ({
  token: usdt,
  owner: alice,
  spender: bob,
  kind: 'amount',
  value: 123n,
  granted: true,
  logIndex: 0,
  ...parts,
});
const byBob = { from: bob, to: carol };
const method = (signature: string) => id(signature).slice(0, 10);

const cases: [name: string, parts: Parts, category: string, summary: string][] = [
  [
    'native sent',
    { tx: { selector: null }, moves: { native: [native(alice, bob, ether / 2000n)] } },
    'send',
    'Sent 0.0005 ETH to 0xb0...b0b0',
  ],
  ['nothing sent', { tx: { selector: null } }, 'send', 'Sent 0 ETH to 0xb0...b0b0'],
  [
    'sent to itself',
    { tx: { selector: null }, moves: { native: [native(alice, alice, ether)] } },
    'send',
    'Sent 1 ETH to 0xa1...a1a1',
  ],
  [
    'native received',
    { tx: byBob, moves: { native: [native(bob, alice, 12n * ether)] } },
    'receive',
    'Received 12 ETH from 0xb0...b0b0',
  ],
  [
    'nothing received',
    { tx: { from: bob, to: alice, selector: null } },
    'receive',
    'Received 0 ETH from 0xb0...b0b0',
  ],
  [
    'tokens sent',
    { moves: { erc20: [coin(usdt, alice, bob, 5_000_000n)] } },
    'token send',
    'Sent 5 USDT to 0xb0...b0b0',
  ],
  [
    'tokens received',
    { tx: byBob, moves: { erc20: [coin(usdt, bob, alice, 1_300_000_000n)] } },
    'token receive',
    'Received 1,300 USDT from 0xb0...b0b0',
  ],
  [
    'two tokens received',
    { tx: byBob, moves: { erc20: [coin(usdt, bob, alice, 1n), coin(gem, bob, alice, ether)] } },
    'token receive',
    'Received 0.000001 USDT and 1 GEM from 0xb0...b0b0',
  ],
  [
    'nothing sent by a stranger',
    { tx: byBob, moves: { erc20: [coin(usdt, alice, bob, 0n)] } },
    'token send',
    'Sent 0 USDT to 0xb0...b0b0',
  ],
  ['an NFT sent', { moves: { nft: [nft(alice, bob)] } }, 'nft send', 'Sent CASK #41 to 0xb0...b0b0'],
  [
    'several of one NFT sent',
    { moves: { nft: [nft(alice, bob, 41n, 3n)] } },
    'nft send',
    'Sent 3 CASK #41 to 0xb0...b0b0',
  ],
  [
    'an NFT received',
    { tx: byBob, moves: { nft: [nft(bob, alice)] } },
    'nft receive',
    'Received CASK #41 from 0xb0...b0b0',
  ],
  [
    'a swap of tokens',
    { moves: { erc20: [coin(usdt, alice, bob, 5_000_000n), coin(gem, bob, alice, 12_345n * ether)] } },
    'token swap',
    'Swapped 5 USDT for 12,345 GEM',
  ],
  [
    'a swap with change',
    {
      moves: {
        native: [native(alice, bob, 3n * ether), native(bob, alice, ether)],
        erc20: [coin(usdt, bob, alice, 9n * 10n ** 6n)],
      },
    },
    'token swap',
    'Swapped 2 ETH for 9 USDT',
  ],
  [
    'a swap by a solver',
    { tx: byBob, moves: { erc20: [coin(usdt, alice, bob, 10n ** 6n), coin(gem, carol, alice, ether)] } },
    'token swap',
    'Swapped 1 USDT for 1 GEM',
  ],
  [
    'an exchange of NFTs',
    { moves: { nft: [nft(alice, bob, 1n), nft(bob, alice, 2n)] } },
    'token swap',
    'Swapped CASK #1 for CASK #2',
  ],
  [
    'native wrapped',
    { moves: { native: [native(alice, gem, ether)], erc20: [coin(gem, zeroAddress, alice, ether)] } },
    'deposit',
    'Deposited 1 ETH',
  ],
  [
    'a deposit without receipt token',
    { tx: { selector: method('stake(uint256)') }, moves: { erc20: [coin(gem, alice, bob, ether)] } },
    'deposit',
    'Deposited 1 GEM',
  ],
  [
    'native unwrapped',
    { moves: { native: [native(gem, alice, ether)], erc20: [coin(gem, alice, zeroAddress, ether)] } },
    'withdraw',
    'Withdrew 1 ETH',
  ],
  [
    'a withdrawal without receipt token',
    { tx: { selector: method('withdraw(uint256)') }, moves: { erc20: [coin(gem, bob, alice, ether)] } },
    'withdraw',
    'Withdrew 1 GEM',
  ],
  [
    'an NFT bought',
    { moves: { native: [native(alice, bob, ether / 2n)], nft: [nft(carol, alice)] } },
    'nft purchase',
    'Bought CASK #41 for 0.5 ETH',
  ],
  [
    'an NFT sold',
    { tx: byBob, moves: { native: [native(bob, alice, ether)], nft: [nft(alice, bob)] } },
    'nft sale',
    'Sold CASK #41 for 1 ETH',
  ],
  [
    'an NFT minted and paid',
    { moves: { native: [native(alice, bob, ether)], nft: [nft(zeroAddress, alice)] } },
    'mint',
    'Minted CASK #41',
  ],
  [
    'three NFTs minted for it',
    { tx: byBob, moves: { nft: [1n, 2n, 3n].map((tokenId) => nft(zeroAddress, alice, tokenId)) } },
    'mint',
    'Minted CASK #1 and 2 more',
  ],
  ['tokens minted', { moves: { erc20: [coin(gem, zeroAddress, alice, ether)] } }, 'mint', 'Minted 1 GEM'],
  [
    'one of many that got tokens',
    { tx: byBob, moves: { erc20: [coin(gem, bob, alice, ether)], recipients: 9 } },
    'airdrop',
    'Received an airdrop of 1 GEM',
  ],
  ['an NFT burned', { moves: { nft: [nft(alice, zeroAddress)] } }, 'burn', 'Burned CASK #41'],
  [
    'tokens burned',
    { moves: { erc20: [coin(gem, alice, '0x000000000000000000000000000000000000dead', ether)] } },
    'burn',
    'Burned 1 GEM',
  ],
  [
    'tokens borrowed',
    {
      moves: {
        erc20: [coin(usdt, bob, alice, 10n ** 8n), coin(gem, zeroAddress, alice, 1n)],
        borrowed: true,
      },
    },
    'borrow',
    'Borrowed 100 USDT',
  ],
  ['an amount approved', { moves: { approvals: [approval({})] } }, 'approve', 'Approved 0.000123 USDT'],
  [
    'any amount approved',
    { moves: { approvals: [approval({ value: 2n ** 256n - 1n })] } },
    'approve',
    'Approved unlimited USDT',
  ],
  [
    'one NFT approved',
    { moves: { approvals: [approval({ token: cask, kind: 'token', value: 41n })] } },
    'approve',
    'Approved CASK #41',
  ],
  [
    'all NFTs approved',
    { moves: { approvals: [approval({ token: cask, kind: 'all' })] } },
    'approve',
    'Approved all CASK',
  ],
  [
    'an amount revoked',
    { moves: { approvals: [approval({ value: 0n, granted: false })] } },
    'revoke',
    'Revoked USDT',
  ],
  [
    'all NFTs revoked',
    { moves: { approvals: [approval({ token: cask, kind: 'all', granted: false })] } },
    'revoke',
    'Revoked all CASK',
  ],
  [
    'a sale whose first movement is of nothing to nobody',
    {
      moves: {
        native: [native(bob, alice, 492_564_313n * 10n ** 9n)],
        erc20: [coin(gem, alice, zeroAddress, 0n), coin(gem, alice, bob, 2_000_000n * ether)],
      },
    },
    'token swap',
    'Swapped 2,000,000 GEM for 0.4925 ETH',
  ],
  [
    'a transfer of which a part is burned',
    {
      moves: {
        erc20: [
          coin(gem, alice, zeroAddress, 3n * ether),
          coin(gem, alice, carol, ether),
          coin(gem, alice, bob, 2n * ether),
        ],
      },
    },
    'token send',
    'Sent 6 GEM to 0xb0...b0b0',
  ],
  [
    'tokens of which a part is new',
    { tx: byBob, moves: { erc20: [coin(gem, zeroAddress, alice, ether), coin(gem, bob, alice, ether)] } },
    'token receive',
    'Received 2 GEM from 0xb0...b0b0',
  ],
  [
    'a loan of tokens that the market mints',
    { moves: { erc20: [coin(gem, zeroAddress, alice, ether)], borrowed: true } },
    'borrow',
    'Borrowed 1 GEM',
  ],
  [
    'an account that delegates',
    { moves: { delegates: [carol] } },
    'contract interaction',
    'Delegated the account to 0xca...caca',
  ],
  [
    'an account that ends its delegation',
    { moves: { delegates: [carol, zeroAddress] } },
    'contract interaction',
    'Ended the delegation of the account',
  ],
  [
    'a swap by an account that delegates in the same transaction',
    {
      moves: {
        erc20: [coin(usdt, alice, bob, 5_000_000n), coin(gem, bob, alice, ether)],
        delegates: [carol],
      },
    },
    'token swap',
    'Swapped 5 USDT for 1 GEM, delegated the account to 0xca...caca',
  ],
  [
    'the fee of a transaction, paid in tokens',
    { moves: { erc20: [{ ...coin(usdt, alice, bob, 5n), kind: 'fee' }] } },
    'contract interaction',
    'Signed a transaction',
  ],
  ['a call', {}, 'contract interaction', 'Signed a transaction'],
  ['a call of others', { tx: byBob }, 'contract interaction', 'Took part in a transaction'],
  ['a failure', { tx: { succeeded: false } }, 'contract interaction', 'Signed a transaction that failed'],
  ['a creation', { tx: { to: null, created: bob } }, 'contract interaction', 'Created contract 0xb0...b0b0'],
  [
    'what passed through',
    { moves: { native: [native(alice, bob, ether), native(bob, alice, ether)] } },
    'contract interaction',
    'Signed a transaction',
  ],
];

describe('category and summary', () => {
  test.each(cases)('of %s', (_name, parts, category, summary) => {
    expect(describeTransaction(seen(parts), wording)).toEqual({ category, summary });
  });

  test('cover all 18 categories of the contract', () => {
    const documented = documents.components.schemas.TransactionCategory.enum;
    expect(new Set(cases.map(([, , category]) => category))).toEqual(new Set(documented));
    expect(documented).toHaveLength(18);
  });

  test('name tokens of no or hostile text by their address', () => {
    const hostile = new Map([[usdt, { name: null, symbol: '\u202e\u0000\n', decimals: null }]]);
    const row = seen({ moves: { erc20: [coin(usdt, alice, bob, 5n)] } });
    expect(describeTransaction(row, { ...wording, texts: hostile }).summary).toBe(
      'Sent an amount of 0xd1...beef to 0xb0...b0b0',
    );
  });
});

describe('a real transaction', () => {
  test('is an airdrop only where many got the same amount', () => {
    const equal = (amounts: readonly bigint[]) => {
      const erc20 = amounts.map((value, place) =>
        coin(usdt, bob, `0x${String(place + 1).padStart(40, '0')}`, value),
      );
      const [transaction] = decodeRecorded('ethereum/18500000').transactions;
      if (transaction === undefined) throw new Error('the block is empty');
      return walletMoves({ ...transaction, native: [], erc20, nft: [] }).get(`0x${'1'.padStart(40, '0')}`)
        ?.recipients;
    };
    expect(equal([7n, 7n, 7n, 7n, 7n])).toBe(5);
    expect(equal([7n, 8n, 9n, 10n, 11n, 7n])).toBe(0);
  });

  test('has a label in three of four calls of mainnet', () => {
    const mainnet = recordedBlocks.filter((name) => name.startsWith('ethereum/'));
    const calls = mainnet.flatMap((name) =>
      decodeRecorded(name).transactions.flatMap(({ selector }) => selector ?? []),
    );
    const named = calls.filter((selector) => methodName(selector) !== null);
    expect(calls.length).toBeGreaterThan(2_000);
    expect(named.length / calls.length).toBeGreaterThan(0.8);
  });
});

describe('amounts in a summary', () => {
  test.each([
    [7_392_300_000n, 6, '7,392.30'],
    [5570n, 6, '0.00557'],
    [1_300_000_000n, 6, '1,300'],
    [1_999_999n, 6, '1.999'],
    [1_998_775n, 6, '1.998'],
    [999_999n, 6, '0.9999'],
    [492_634n, 6, '0.4926'],
    [12_345_678n, 6, '12.34'],
    [123_456_789n, 6, '123.45'],
    [1_500_000n, 6, '1.50'],
    [1_000_000_009_999n, 6, '1,000,000'],
    [100_004n, 5, '1'],
    [1n, 18, '0.000000000000000001'],
    [10n ** 24n - 1n, 0, '999,999,999,999,999,999,999,999'],
    [10n ** 24n, 0, 'more than 10^24'],
    [2n ** 255n, 18, 'more than 10^24'],
    [0n, 18, '0'],
  ])('shows %s with %s decimals as %s', (amount, decimals, text) => {
    expect(shortAmount(amount, decimals)).toBe(text);
  });
});

describe('a record', () => {
  test('marks a transfer of nothing that others signed as spam', () => {
    const row = seen({ tx: byBob, moves: { erc20: [coin(usdt, alice, bob, 0n)] } });
    expect(toRecord(row, wording)).toMatchObject({
      possible_spam: true,
      erc20_transfers: [{ possible_spam: true }],
    });
    expect(toRecord(seen({ moves: row.moves }), wording).possible_spam).toBe(false);
  });

  test('leaves amounts unformatted where the decimals are unknown', () => {
    const row = seen({ moves: { erc20: [coin(cask, alice, bob, 5n)] } });
    expect(toRecord(row, wording).erc20_transfers).toMatchObject([{ value: '5', value_formatted: null }]);
  });
});
