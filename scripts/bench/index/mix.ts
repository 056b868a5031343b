import { Interface } from 'ethers';
import { type ContractName, worldContracts } from '../../../src/local/sample/contracts.ts';

/** A transaction of the bench chain: accounts are addresses, the value is in wei. */
export type BenchCall = {
  readonly from: string;
  /** Left out to create a contract. */
  readonly to?: string;
  readonly data?: string;
  readonly value?: bigint;
};

export type MixContracts = Readonly<
  Record<Exclude<ContractName, 'TallystickNft' | 'SampleForgery'>, string>
> & {
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
const blockMix = Object.entries(counts).flatMap(([kind, count]) =>
  Array.from({ length: count }, () => kind as MixKind),
);

// Made once: reading an ABI takes longer than encoding with it.
const abis = {
  token: new Interface(worldContracts.SampleToken.abi),
  collectible: new Interface(worldContracts.SampleCollectible.abi),
  edition: new Interface(worldContracts.SampleEdition.abi),
  splitter: new Interface(worldContracts.SampleSplitter.abi),
  wrapped: new Interface(['function deposit() payable', 'function withdraw(uint256 amount)']),
};

function callData(contract: keyof typeof abis, method: string, args: readonly unknown[] = []): string {
  return abis[contract].encodeFunctionData(method, args);
}

/** A contract of one byte that does nothing, as cheap to make as any. */
const creation = '0x6001600c60003960016000f300';

type MixOptions = {
  readonly contracts: MixContracts;
  readonly owner: string;
  readonly accounts: readonly string[];
};

type Makers<Kind extends MixKind> = Readonly<Record<Kind, (from: string) => BenchCall>>;
type NftKind = Extract<MixKind, `erc721${string}` | `erc1155${string}`>;

/**
 * Makes transactions that succeed or fail as they should, each from another account of a block. Recipients are
 * drawn from some thousands of addresses, the same at every run.
 */
export function createMix(options: MixOptions) {
  const { contracts, owner, accounts } = options;
  const random = createRandom(7);
  const people = Array.from({ length: 5_000 }, () => `0x${hexDigits(random, 40)}`);
  const someone = () => people[random(people.length)] ?? owner;
  const makers: Makers<MixKind> = {
    ...coinMakers(contracts, random, someone),
    ...nftMakers(options, random, someone),
  };
  return {
    /** What every account needs before the first block of the mix. */
    preparation: (): BenchCall[] =>
      accounts.flatMap((account) => [
        { from: owner, to: contracts.SampleToken, data: callData('token', 'mint', [account, 10n ** 12n]) },
        {
          from: owner,
          to: contracts.SampleEdition,
          data: callData('edition', 'mintBatch', [account, [0, 1, 2, 3], Array(4).fill(10n ** 9n)]),
        },
        { from: account, to: contracts.Wrapped, data: callData('wrapped', 'deposit'), value: 10n ** 12n },
        makers.erc721Mint(account),
      ]),
    /** @param turn number of the block; accounts take turns */
    block: (turn: number): BenchCall[] =>
      blockMix.map((kind, place) =>
        makers[kind](accounts[(turn * blockMix.length + place) % accounts.length] ?? owner),
      ),
  };
}

type Random = (below: number) => number;

function coinMakers(
  contracts: MixContracts,
  random: Random,
  someone: () => string,
): Makers<Exclude<MixKind, NftKind>> {
  const call =
    (data: string, to: string, value = 0n) =>
    (from: string) => ({ from, to, data, value });
  const ofToken = (method: string, amount: () => number | bigint) => (from: string) =>
    call(callData('token', method, [someone(), amount()]), contracts.SampleToken)(from);
  return {
    native: (from) => ({ from, to: someone(), value: BigInt(1 + random(1_000_000)) }),
    erc20Transfer: ofToken('transfer', () => 1 + random(1_000)),
    erc20Approve: ofToken('approve', () => random(1_000)),
    failed: ofToken('transfer', () => 10n ** 30n),
    wrap: call(callData('wrapped', 'deposit'), contracts.Wrapped, 1_000_000n),
    unwrap: call(callData('wrapped', 'withdraw', [1_000]), contracts.Wrapped),
    internal: (from) => {
      const data = callData('splitter', 'split', [[someone(), someone(), someone()]]);
      return { from, to: contracts.SampleSplitter, data, value: 3_000n };
    },
    creation: (from) => ({ from, data: creation }),
  };
}

function nftMakers(
  { contracts, owner, accounts }: MixOptions,
  random: Random,
  someone: () => string,
): Makers<NftKind> {
  // Tokens in the hands of accounts, oldest first; what they pass on to people stays there.
  const held: { readonly id: bigint; readonly holder: string }[] = [];
  let nextToken = 1n;
  let nextPiece = 0n;
  const ofCollectible = (from: string, method: string, args: readonly unknown[]): BenchCall => ({
    from,
    to: contracts.SampleCollectible,
    data: callData('collectible', method, args),
  });
  const ofEdition = (from: string, method: string, args: readonly unknown[]): BenchCall => ({
    from,
    to: contracts.SampleEdition,
    data: callData('edition', method, args),
  });
  return {
    erc721Mint() {
      const holder = accounts[random(accounts.length)] ?? owner;
      const id = nextToken++;
      held.push({ id, holder });
      return ofCollectible(owner, 'mint', [holder, id]);
    },
    erc721Transfer() {
      const { id, holder } = held.shift() ?? { id: 0n, holder: owner };
      return ofCollectible(holder, 'transferFrom', [holder, someone(), id]);
    },
    erc721ApproveAll: (from) => ofCollectible(from, 'setApprovalForAll', [someone(), random(2) === 0]),
    erc1155Transfer: (from) => ofEdition(from, 'safeTransferFrom', [from, someone(), random(4), 1, '0x']),
    erc1155MintBatch() {
      const ids = [0n, 1n, 2n].map((place) => ((nextPiece + place) % 50n) + 4n);
      nextPiece += 1n;
      return ofEdition(owner, 'mintBatch', [someone(), ids, [1n, 2n, 3n]]);
    },
  };
}

/** Whole numbers below a limit, the same sequence for the same seed (mulberry32). */
function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function hexDigits(random: Random, count: number): string {
  return Array.from({ length: count }, () => random(16).toString(16)).join('');
}
