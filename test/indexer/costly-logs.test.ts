import { id } from 'ethers';
import { describe, expect, test } from 'vitest';
import { zeroAddress } from '../../src/chain/address.ts';
import { alice, bob, carol, decodeAnswers, rawAnswers, token, topicOf, word } from './raw-answers.ts';

/** Logs that cost little gas and stand for much. */

type Log = { readonly topics: readonly string[]; readonly data?: string; readonly address?: string };

function decode(logs: readonly Log[]) {
  const decoded = decodeAnswers(rawAnswers({ logs }));
  return { ...decoded, nft: decoded.transactions.flatMap(({ nft }) => nft) };
}

const times = <Item>(count: number, make: (place: number) => Item) =>
  Array.from({ length: count }, (_, place) => make(place));

describe('ranges of tokens (ERC-2309)', () => {
  const range = (first: number, length: number): Log => ({
    topics: [
      id('ConsecutiveTransfer(uint256,uint256,address,address)'),
      topicOf(first),
      topicOf(zeroAddress),
      topicOf(bob),
    ],
    data: `0x${word(first + length - 1)}`,
  });

  test('come to 20,000 tokens of a block, in its order, and what has no room is skipped', () => {
    const logs = [range(0, 10_000), range(10_000, 9_000), range(19_000, 1_001), range(30_000, 1_000)];
    const { nft, skipped } = decode(logs);
    expect(nft).toHaveLength(20_000);
    expect(nft.at(-1)).toMatchObject({ tokenId: 30_999n, logIndex: 3 });
    const reason = 'the ranges of the block are too long together';
    expect(skipped).toMatchObject([{ logIndex: 2, address: token, reason }]);
    expect(decode(logs)).toEqual(decode(logs));
  });

  test('come to no more for a million gas of them', () => {
    const { nft, skipped } = decode(times(450, (place) => range(place * 10_000, 10_000)));
    expect([nft.length, skipped.length]).toEqual([20_000, 448]);
  });
});

describe('batches of tokens (ERC-1155)', () => {
  /** Ids and amounts are one and the same array: 256 gas a token. */
  const batch = (length: number): Log => ({
    topics: [
      id('TransferBatch(address,address,address,uint256[],uint256[])'),
      topicOf(carol),
      topicOf(alice),
      topicOf(bob),
    ],
    data: `0x${word(64)}${word(64)}${word(length)}${word(1).repeat(length)}`,
  });

  test('come to 20,000 tokens of a block', () => {
    const { nft, skipped } = decode([batch(12_000), batch(8_001), batch(8_000), batch(1)]);
    expect(nft).toHaveLength(20_000);
    const reason = 'the batches of the block are too long together';
    expect(skipped).toMatchObject([
      { logIndex: 1, reason },
      { logIndex: 3, reason },
    ]);
  });
});

test('of skipped logs a block keeps 10,000', () => {
  const { skipped } = decode(times(12_000, () => ({ topics: [id('MetadataUpdate(uint256)')] })));
  expect(skipped).toHaveLength(10_000);
  expect(skipped.at(-1)).toMatchObject({ logIndex: 9_999 });
});

describe('changes of metadata (ERC-4906)', () => {
  const range = (first: number, last: number, address = token): Log => ({
    topics: [id('BatchMetadataUpdate(uint256,uint256)')],
    data: `0x${word(first)}${word(last)}`,
    address,
  });
  const contract = (place: number) => `0x${word(place + 1).slice(24)}`;
  const whole = { tokenId: undefined };

  test('are named once each, a long range as the whole collection', () => {
    const { metadataChanges } = decode([range(1, 3), range(2, 4), range(0, 100), range(2, 2, bob)]);
    expect(new Set(metadataChanges.map(({ tokenId }) => tokenId))).toEqual(
      new Set([undefined, 1n, 2n, 3n, 4n]),
    );
    expect(metadataChanges.filter((change) => change.token === token)).toHaveLength(5);
    expect(metadataChanges.filter((change) => change.token === bob)).toEqual([{ token: bob, tokenId: 2n }]);
  });

  test('of more than 1,000 tokens of a contract are of its whole collection', () => {
    const most = times(10, (place) => range(place * 100, place * 100 + 99));
    expect(decode(most).metadataChanges).toHaveLength(1_000);
    expect(decode([...most, range(0, 9)]).metadataChanges).toHaveLength(1_000);
    expect(decode([...most, range(1_000, 1_000), range(7, 9)]).metadataChanges).toEqual([
      { token, ...whole },
    ]);
  });

  test('come to 10,000 tokens of a block, beyond which they are of whole collections', () => {
    const logs = times(1_000, (place) => range(0, 99, contract(place)));
    const { metadataChanges } = decode(logs);
    expect(metadataChanges.filter(({ tokenId }) => tokenId !== undefined)).toHaveLength(10_000);
    expect(metadataChanges.filter(({ tokenId }) => tokenId === undefined)).toHaveLength(900);
  });

  test('can be read however many a transaction tells of', () => {
    const { metadataChanges } = decode(times(1_300, (place) => range(place * 100, place * 100 + 99)));
    expect(metadataChanges).toEqual([{ token, ...whole }]);
  });
});
