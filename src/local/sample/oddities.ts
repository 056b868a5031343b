import { deployData } from '../../chain/contracts/contract-calls.ts';
import { type Cast, worldContracts } from './contracts.ts';
import { around, coins, dollars, pay, type StoryBlock, type StoryCaller, type StoryStep } from './step.ts';

/** Rare transactions, and transactions that readers of a chain often get wrong. */
export function oddities(cast: Cast, call: StoryCaller): StoryBlock[] {
  const { acmeTreasury, globexTreasury, people } = cast;
  const person = (place: number) => around(people, place);
  return [
    burns(cast, call),
    [
      // More than the sender has, and an NFT of another owner: both are mined and fail.
      fails(call(person(0), 'SampleToken', 'transfer', person(1), dollars(100_000_000))),
      fails(call(person(1), 'SampleCollectible', 'transferFrom', person(2), person(1), 39n)),
    ],
    [deployment(person(2))],
    splits(call, people),
    [
      pay(person(3), person(3), coins(1)),
      pay(person(4), person(5), 0n),
      { ...pay(person(5), person(0), coins(2)), data: '0x7468616e6b20796f75', gas: 30_000n },
      call(person(0), 'SampleToken', 'transfer', person(0), dollars(5)),
      call(person(1), 'SampleToken', 'transfer', person(2), 0n),
      poisoning(cast, call),
    ],
    [
      batchGift(call, acmeTreasury, person(0)),
      batchGift(call, globexTreasury, person(1)),
      batchGift(call, person(0), person(2)),
    ],
    // A page of a wallet's history ends inside such a block.
    Array.from({ length: 30 }, (_, i) => pay(acmeTreasury, person(i), coins(i + 1))),
  ];
}

const fails = (step: StoryStep): StoryStep => ({ ...step, fails: true });

const deployment = (from: string): StoryStep => ({
  from,
  to: null,
  data: deployData(worldContracts.SampleToken, ['Club Points', 'CLUB']),
  gas: 3_000_000n,
});

function burns({ acmeTreasury, globexTreasury, people }: Cast, call: StoryCaller): StoryBlock {
  const [first, second] = [around(people, 0), around(people, 1)];
  return [
    call(first, 'SampleToken', 'burn', dollars(42)),
    call(second, 'SampleToken', 'burn', dollars(7)),
    call(acmeTreasury, 'SampleCollectible', 'burn', 0n),
    call(globexTreasury, 'SampleCollectible', 'burn', 1n),
    call(acmeTreasury, 'SampleEdition', 'burn', acmeTreasury, 4n, 1n),
    call(globexTreasury, 'SampleEdition', 'burnBatch', globexTreasury, [5n, 6n], [2n, 3n]),
  ];
}

/** Value that moves inside a transaction, from a contract to three people. */
function splits(call: StoryCaller, people: readonly string[]): StoryBlock {
  return people.slice(0, 4).map((from, i) => ({
    ...call(
      from,
      'SampleSplitter',
      'split',
      [1, 2, 3].map((place) => around(people, i + place)),
    ),
    value: coins(300 + i),
  }));
}

/** Somebody logs payments to addresses that are similar to addresses of people's friends, and hopes that they copy them. */
function poisoning({ operator, people }: Cast, call: StoryCaller): StoryStep {
  const payers = people.slice(0, 3);
  const resembling = payers.map((_, i) => {
    const known = around(people, i + 1);
    return `${known.slice(0, 6)}${'0'.repeat(32)}${known.slice(-4)}`.toLowerCase();
  });
  return call(operator, 'SampleForgery', 'forge', payers, resembling, dollars(250));
}

const batchGift = (call: StoryCaller, from: string, to: string): StoryStep =>
  call(from, 'SampleEdition', 'safeBatchTransferFrom', from, to, [4n, 5n], [1n, 2n], '0x');
