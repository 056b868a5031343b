import { describe, expect, test } from 'vitest';
import { zeroAddress } from '../../src/chain/address.ts';
import { punksContract } from '../../src/providers/indexer/decode/punks.ts';
import { topics } from '../../src/providers/indexer/decode/topics.ts';
import { decodeRecorded } from '../support/recorded-chain.ts';
import { alice, bob, decodeAnswers, rawAnswers, token, topicOf, word } from './raw-answers.ts';

/** What the logs of one transaction mean. */
function decode(logs: Parameters<typeof rawAnswers>[0]['logs']) {
  const { transactions, skipped } = decodeAnswers(rawAnswers({ logs: logs ?? [] }));
  return {
    erc20: transactions.flatMap(({ erc20 }) => erc20),
    nft: transactions.flatMap(({ nft }) => nft),
    skipped,
  };
}

describe('a collection from before ERC-721', () => {
  test('that names everything in the data is read: a recorded kitty', () => {
    const kitties = '0x06012c8cf97bead5deae237070f9587f8e7a266d';
    const { transactions } = decodeRecorded('ethereum/7280016');
    const moved = transactions
      .flatMap(({ nft }) => nft)
      .filter(({ token: contract }) => contract === kitties);
    expect(moved).toMatchObject([{ standard: 'ERC721', amount: 1n, tokenId: expect.any(BigInt) }]);
    expect(
      transactions.flatMap(({ erc20 }) => erc20).some(({ token: contract }) => contract === kitties),
    ).toBe(false);
  });

  test.each([
    ['cryptopunks-assign-3918649', zeroAddress, '0xcc7c335f3365ae3f7e4e8c9535dc92780a4add9d', 3053n],
    [
      'cryptopunks-punktransfer-13367088',
      '0xd9d9d578d2027b1c441b2141e9183ed929abfdc8',
      '0x36b20426c9a1315466133f14cbbb2a6371934f44',
      3536n,
    ],
    [
      'cryptopunks-punkbought-13367153',
      '0x6639c089adfba8bb9968da643c6be208a70d6daa',
      '0x6d6a443ed637a23b0fc3a0e55a07e785a6b0caa8',
      3740n,
    ],
  ])('that has events of its own is read: %s', (name, from, to, tokenId) => {
    const { transactions } = decodeRecorded(`ethereum/partial/${name}`);
    expect(transactions.flatMap(({ nft }) => nft)).toMatchObject([
      { token: punksContract, tokenId, from, to, amount: 1n, standard: 'ERC721' },
    ]);
  });
});

describe('CryptoPunks', () => {
  const doubled = {
    address: punksContract,
    topics: [topics.transfer, topicOf(alice), topicOf(bob)],
    data: `0x${word(1)}`,
  };
  const sold = (buyer: string) => ({
    address: punksContract,
    topics: [topics.punkBought, topicOf(7), topicOf(alice), topicOf(buyer)],
    data: `0x${word(0)}`,
  });

  test('are no ERC-20 although they emit its Transfer, and count once', () => {
    const { erc20, nft } = decode([doubled, sold(bob)]);
    expect(erc20).toEqual([]);
    expect(nft).toMatchObject([{ tokenId: 7n, from: alice, to: bob, logIndex: 1 }]);
  });

  test('go to the bidder when a bid is accepted, whom the sale itself forgets', () => {
    expect(decode([doubled, sold(zeroAddress)]).nft).toMatchObject([{ tokenId: 7n, from: alice, to: bob }]);
  });

  test('are left where they are when nobody is named as the buyer', () => {
    const { nft, skipped } = decode([sold(zeroAddress)]);
    expect(nft).toEqual([]);
    expect(skipped).toMatchObject([{ reason: 'nobody is named as the buyer' }]);
  });

  test('are only those of their contract', () => {
    expect(decode([{ ...sold(bob), address: token }])).toEqual({ erc20: [], nft: [], skipped: [] });
  });
});
