import { type ContractArtefact, callData, deployData } from '../../../src/chain/contracts/contract-calls.ts';
import { type ContractName, worldContracts } from '../../../src/local/world-contracts.ts';

/** A transaction of the bench chain: accounts are addresses, the value is in wei. */
export type BenchCall = {
  readonly from: string;
  /** Left out to create a contract. */
  readonly to?: string;
  readonly data?: string;
  readonly value?: bigint;
};

export type MixContracts = Readonly<Record<Exclude<ContractName, 'TallystickNft'>, string>> & {
  readonly Wrapped: string;
};

/** How many of each kind a block has. */
const counts = {
  native: 12,
  erc20Transfer: 15,
  erc20Approve: 4,
  erc721Mint: 3,
  erc721Transfer: 3,
  erc721ApproveAll: 1,
  erc1155Transfer: 2,
  erc1155MintBatch: 1,
  wrap: 3,
  unwrap: 2,
  internal: 2,
  failed: 1,
  creation: 1,
} as const;

export type MixKind = keyof typeof counts;

/** The kinds of the transactions of one block, in their order. */
export const blockMix = Object.entries(counts).flatMap(([kind, count]) =>
  Array.from({ length: count }, () => kind as MixKind),
);

const wrapped: ContractArtefact = {
  name: 'Wrapped',
  abi: ['function deposit() payable', 'function withdraw(uint256 amount)'],
  bytecode: '0x',
};

const weth = (method: string, args: readonly unknown[] = []) => callData(wrapped, method, args);
const [token, collectible, edition, splitter] = [
  worldContracts.SampleToken,
  worldContracts.SampleCollectible,
  worldContracts.SampleEdition,
  worldContracts.SampleSplitter,
];

/** Sixteen bytes of code: a contract that does nothing, as cheap to make as any. */
const creation = deployData({ name: 'Nothing', abi: ['constructor()'], bytecode: '0x6001600c60003960016000f300' });

type MixOptions = { readonly contracts: MixContracts; readonly owner: string; readonly accounts: readonly string[] };

/**
 * Makes transactions that succeed or fail as they should, each from another account of a block. Recipients are
 * drawn from some thousands of addresses, the same at every run.
 */
export function createMix({ contracts, owner, accounts }: MixOptions) {
  const random = createRandom(7);
  const people = Array.from({ length: 5_000 }, () => `0x${hexDigits(random, 40)}`);
  const someone = () => people[random(people.length)] ?? owner;
  // Tokens in the hands of accounts, oldest first; what they pass on to people stays there.
  const held: { readonly id: bigint; readonly holder: string }[] = [];
  let nextToken = 1n;
  let nextPiece = 0n;

  const makers: Readonly<Record<MixKind, (from: string) => BenchCall>> = {
    native: (from) => ({ from, to: someone(), value: BigInt(1 + random(1_000_000)) }),
    erc20Transfer: (from) => ({
      from,
      to: contracts.SampleToken,
      data: callData(token, 'transfer', [someone(), 1 + random(1_000)]),
    }),
    erc20Approve: (from) => ({
      from,
      to: contracts.SampleToken,
      data: callData(token, 'approve', [someone(), random(1_000)]),
    }),
    erc721Mint() {
      const holder = accounts[random(accounts.length)] ?? owner;
      const id = nextToken++;
      held.push({ id, holder });
      return { from: owner, to: contracts.SampleCollectible, data: callData(collectible, 'mint', [holder, id]) };
    },
    erc721Transfer() {
      const { id, holder } = held.shift() ?? { id: 0n, holder: owner };
      const data = callData(collectible, 'transferFrom', [holder, someone(), id]);
      return { from: holder, to: contracts.SampleCollectible, data };
    },
    erc721ApproveAll: (from) => ({
      from,
      to: contracts.SampleCollectible,
      data: callData(collectible, 'setApprovalForAll', [someone(), random(2) === 0]),
    }),
    erc1155Transfer: (from) => ({
      from,
      to: contracts.SampleEdition,
      data: callData(edition, 'safeTransferFrom', [from, someone(), random(4), 1, '0x']),
    }),
    erc1155MintBatch() {
      const ids = [nextPiece % 50n, (nextPiece + 1n) % 50n, (nextPiece + 2n) % 50n].map((id) => id + 4n);
      nextPiece += 1n;
      const data = callData(edition, 'mintBatch', [someone(), ids, [1n, 2n, 3n]]);
      return { from: owner, to: contracts.SampleEdition, data };
    },
    wrap: (from) => ({ from, to: contracts.Wrapped, data: weth('deposit'), value: 1_000_000n }),
    unwrap: (from) => ({ from, to: contracts.Wrapped, data: weth('withdraw', [1_000]) }),
    internal: (from) => ({
      from,
      to: contracts.SampleSplitter,
      data: callData(splitter, 'split', [[someone(), someone(), someone()]]),
      value: 3_000n,
    }),
    failed: (from) => ({
      from,
      to: contracts.SampleToken,
      data: callData(token, 'transfer', [someone(), 10n ** 30n]),
    }),
    creation: (from) => ({ from, data: creation }),
  };
  return {
    /** What every account needs before the first block of the mix. */
    preparation: (): BenchCall[] =>
      accounts.flatMap((account) => [
        { from: owner, to: contracts.SampleToken, data: callData(token, 'mint', [account, 10n ** 12n]) },
        {
          from: owner,
          to: contracts.SampleEdition,
          data: callData(edition, 'mintBatch', [account, [0, 1, 2, 3], [10n ** 9n, 10n ** 9n, 10n ** 9n, 10n ** 9n]]),
        },
        { from: account, to: contracts.Wrapped, data: weth('deposit'), value: 10n ** 12n },
        makers.erc721Mint(account),
      ]),
    /** @param turn number of the block; accounts take turns */
    block: (turn: number): BenchCall[] =>
      blockMix.map((kind, place) => makers[kind](accounts[(turn * blockMix.length + place) % accounts.length] ?? owner)),
  };
}

/** Whole numbers below a limit, the same sequence for the same seed (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function hexDigits(random: (below: number) => number, count: number): string {
  return Array.from({ length: count }, () => random(16).toString(16)).join('');
}
