import { type Cast, type ContractAddresses, walletsOf } from './contracts.ts';
import { collectibleCount, everydayLife } from './everyday.ts';
import { oddities } from './oddities.ts';
import { around, chunks, createCaller, dollars, type StoryBlock, type StoryCaller } from './step.ts';

/** Returns the story after the contracts are there, block by block. */
export function tellStory(cast: Cast, addresses: ContractAddresses): StoryBlock[] {
  const call = createCaller(addresses);
  const wallets = walletsOf(cast);
  return [
    ...supply(cast, call, wallets),
    ...approvals(call, cast.people),
    ...everydayLife(call, wallets),
    ...oddities(cast, call),
  ];
}

/** Everyone gets something: 60 mints. */
function supply({ operator }: Cast, call: StoryCaller, wallets: readonly string[]): StoryBlock[] {
  const tokens = wallets.map((wallet, i) =>
    call(operator, 'SampleToken', 'mint', wallet, dollars(10_000 + 1_234 * i)),
  );
  const collectibles = Array.from({ length: collectibleCount }, (_, i) =>
    call(operator, 'SampleCollectible', 'mint', around(wallets, i), BigInt(i)),
  );
  const editions = wallets.map((wallet, i) =>
    call(operator, 'SampleEdition', 'mint', wallet, BigInt((i % 3) + 1), 100n),
  );
  const batches = wallets
    .slice(0, 4)
    .map((wallet) => call(operator, 'SampleEdition', 'mintBatch', wallet, [4n, 5n, 6n], [10n, 20n, 30n]));
  return [tokens, ...chunks(collectibles, 10), editions, batches];
}

/** Everyone lets the next one use something, who does; some take it back. */
function approvals(call: StoryCaller, people: readonly string[]): StoryBlock[] {
  const pairs = people.map((owner, i) => ({
    owner,
    spender: around(people, i + 1),
    // The two treasuries come first among the holders, so the first person has id 2.
    id: BigInt(i + 2),
  }));
  const half = pairs.slice(0, 3);
  return [
    pairs.map(({ owner, spender }) => call(owner, 'SampleToken', 'approve', spender, dollars(500))),
    pairs.map(({ owner, spender, id }) => call(owner, 'SampleCollectible', 'approve', spender, id)),
    pairs.map(({ owner, spender }) => call(owner, 'SampleEdition', 'setApprovalForAll', spender, true)),
    half.map(({ owner, spender }) => call(owner, 'SampleCollectible', 'setApprovalForAll', spender, true)),
    pairs.map(({ owner, spender }) =>
      call(spender, 'SampleToken', 'transferFrom', owner, spender, dollars(120)),
    ),
    pairs.map(({ owner, spender, id }) =>
      call(spender, 'SampleCollectible', 'transferFrom', owner, spender, id),
    ),
    half.map(({ owner, spender }) => call(owner, 'SampleToken', 'approve', spender, 0n)),
    half.map(({ owner, spender }) => call(owner, 'SampleEdition', 'setApprovalForAll', spender, false)),
    half.map(({ owner, spender }) => call(owner, 'SampleCollectible', 'setApprovalForAll', spender, false)),
  ];
}
