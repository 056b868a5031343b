import { type Flaw, failure, of } from '../support/node/flaw.ts';
import {
  allows,
  feeCap,
  type NoFinalized,
  noArchive,
  noFinalized,
  oneOfDelegated,
  prunedBefore,
  rangesOf,
  tipFloor,
  without,
  withoutPending,
} from '../support/node/limits.ts';
import { lagsBy, pastOf, standsStill } from '../support/node/old-heads.ts';
import { type Orphan, startOrphan, startOtherChain } from '../support/node/orphan.ts';
import type { WatchedNode } from '../support/node/watched-node.ts';
import {
  errs,
  hangs,
  leadsTo,
  malformedReceipts,
  refusesBroadcasts,
  slow,
  status,
  suggestsTip,
  swallowsBroadcasts,
} from '../support/node/wrongs.ts';
import type { Chance } from './chance.ts';
import type { MintSetup } from './mint-setup.ts';

const usualSeconds = 45;

type Made = { readonly flaws: readonly Flaw[]; readonly chain?: Orphan };

/** What a node is like for as long as a sequence lasts. */
type Quality = {
  readonly name: string;
  /** Whether it makes believe what is not so; then a sound node must stand beside it. */
  readonly deceives?: true;
  /** How long everything may take to be minted by such nodes alone, in seconds; {@link usualSeconds} for most. */
  readonly seconds?: number;
  make(setup: MintSetup, chance: Chance): Promise<Made> | Made;
};

const simple = (name: string, ...flaws: readonly Flaw[]): Quality => ({
  name,
  make: () => ({ flaws }),
});

const noFinality: readonly NoFinalized[] = ['status 429', 'not found', 'unknown tag', 'null'];

const wordsOfFloors = [
  (tip: bigint, least: bigint) =>
    `transaction gas price below minimum: gas tip cap ${tip}, minimum needed ${least}`,
  (_tip: bigint, least: bigint) => `tip needed ${least}`,
  () => 'transaction underpriced',
  () => 'already known',
  () => 'nein',
];

const tooMany = [{ status: 429 }, failure(-32005, 'whatever it says')] as const;

/** A node with a limit of questions. What it gives is shared by all workers. */
const rateLimited = (perSecond: number, seconds: number): Quality => ({
  name: `answers ${perSecond} question(s) a second`,
  seconds,
  make: (_setup, chance) => ({ flaws: [allows(perSecond, chance.of(tooMany))] }),
});

/** Limits of sound nodes: each of them suffices alone. */
const limited: readonly Quality[] = [
  rateLimited(5, 120),
  rateLimited(1, 400),
  simple(
    'no receipts',
    of(['eth_getTransactionReceipt', 'eth_getBlockReceipts'], () => ({ result: null })),
  ),
  {
    name: 'wants a tip of 3 gwei, whatever its words',
    make: (_setup, chance) => ({
      flaws: [tipFloor({ least: 3_000_000_000n, say: chance.of(wordsOfFloors) })],
    }),
  },
  simple('no eth_maxPriorityFeePerGas', without('eth_maxPriorityFeePerGas')),
  simple('no eth_getBlockReceipts', without('eth_getBlockReceipts')),
  simple('logs of 10 blocks at once', rangesOf(10n)),
  simple('state of 16 blocks', noArchive(16n)),
  simple('slow', slow(40)),
  simple('suggests a tip of 10 gwei', suggestsTip(10_000_000_000n)),
  simple('suggests no tip', suggestsTip(0n)),
  simple('no pending block', withoutPending),
  {
    name: 'no finalized',
    make: (_setup, chance) => ({ flaws: [noFinalized(chance.of(noFinality))] }),
  },
];

/** What no conclusion, or no mint, can rest on. */
const wrong: readonly Quality[] = [
  {
    name: 'stands still',
    make: async ({ chain }) => ({ flaws: [standsStill(await pastOf(chain.call))] }),
  },
  simple('lags by 12 blocks', lagsBy(12n)),
  {
    name: 'stands on an orphan that it cannot say to be final',
    deceives: true,
    async make(setup, chance) {
      // It parts from what is final: no reorganisation of the real chain reaches what both have.
      const chain = await startOrphan(setup.chain.rpcUrl, { depth: 2 });
      return { flaws: [noFinalized(chance.of(noFinality)), leadsTo(chain.rpcUrl)], chain };
    },
  },
  {
    name: 'leads to another chain',
    async make({ signers }) {
      const chain = await startOtherChain(signers);
      return { flaws: [leadsTo(chain.rpcUrl)], chain };
    },
  },
  simple('swallows broadcasts', swallowsBroadcasts),
  simple('refuses broadcasts', refusesBroadcasts('transactions are not accepted')),
  simple('refuses fees above 0.001 ether', feeCap(1_000_000_000_000_000n)),
  {
    name: 'history pruned',
    make: async ({ chain }) => ({ flaws: [prunedBefore((await pastOf(chain.call)).head)] }),
  },
  simple('malformed receipts', malformedReceipts({ status: 'ok', logs: null })),
  simple(
    'no receipts for its errors',
    errs({ code: -32000, message: 'leveldb: closed' }, 'eth_getTransactionReceipt', 'eth_getBlockReceipts'),
  ),
  simple('hangs', hangs()),
  simple('no state', errs({ code: -32000, message: 'missing trie node' }, 'eth_call')),
  simple('refuses with 429', status(429)),
];

/** The nodes of a network during a sequence, and what is to be expected of it. */
export type SequenceNetwork = {
  readonly nodes: readonly WatchedNode[];
  /** What it is like, and for each node what that is like. */
  readonly names: readonly string[];
  /** Whether everything must be minted although some nodes are wrong; else a reason is enough. */
  readonly mustMint: boolean;
  /** Whether a node shows another chain than the others do. */
  readonly isDeceived: boolean;
  /** How long everything may take to be minted, in seconds. */
  readonly seconds: number;
  /** Whether a node limits the pace. */
  readonly isSlow: boolean;
  /** Gives each node its flaws again, after a fault for a time. */
  restore(): void;
  /** Makes all nodes sound. */
  setRight(): void;
  close(): Promise<void>;
};

/** The most nodes of a network. */
const mostNodes = 3;

const oneIn = (chance: Chance, count: number) => chance.below(count) === 0;

/**
 * Makes a network of one, two or three nodes. In one of four, none of them suffices alone. Where one does, everything must
 * be minted, unless another deceives: what two nodes disagree on is not decided. In one of six, gas is free.
 */
export async function makeNetwork(
  setup: MintSetup,
  chance: Chance,
  { onlySound = false } = {},
): Promise<SequenceNetwork> {
  const nodes = setup.nodes.slice(0, 1 + chance.below(mostNodes));
  if (onlySound) {
    const made = nodes.map(() => ({ quality: sound, flaws: [] }));
    return useNetwork(setup, nodes, { made, isEnough: true, isFree: false });
  }
  const isEnough = !oneIn(chance, 4);
  const isFree = oneIn(chance, 6);
  const enoughAt = isEnough ? chance.below(nodes.length) : -1;
  let deceivers = 0;
  const made: MadeNode[] = [];
  for (const index of nodes.keys()) {
    const honest = wrong.filter(({ deceives }) => !deceives || (isEnough && deceivers === 0));
    const enough = oneIn(chance, 2) ? sound : chance.of([sound, ...limited]);
    const quality = index === enoughAt ? enough : chance.of([...limited, ...honest, ...honest]);
    if (quality.deceives) deceivers += 1;
    made.push({ quality, ...(await quality.make(setup, chance)) });
  }
  return useNetwork(setup, nodes, { made, isEnough, isFree });
}

type MadeNode = Made & { readonly quality: Quality };

type Qualities = {
  /** For each node. */
  readonly made: readonly MadeNode[];
  readonly isEnough: boolean;
  readonly isFree: boolean;
};

async function useNetwork(
  setup: MintSetup,
  nodes: readonly WatchedNode[],
  { made, isEnough, isFree }: Qualities,
): Promise<SequenceNetwork> {
  const others = made.flatMap(({ chain }) => chain ?? []);
  const free = isFree ? [suggestsTip(0n)] : [];
  const restore = () => {
    for (const [index, node] of nodes.entries())
      node.setFlaws(...(made[index]?.flaws ?? []), ...free, oneOfDelegated);
  };
  restore();
  if (isFree) setup.chain.market.hold(0n);
  await setup.useNodes(nodes);
  const seconds = Math.max(...made.map(({ quality }) => quality.seconds ?? usualSeconds));
  const isDeceived = made.some(({ quality }) => quality.deceives);
  // Chains that nodes lead to go on as the real one does.
  const timer = setInterval(() => others.map((chain) => chain.mine().catch(() => {})), 150);
  return {
    nodes,
    names: [...made.map(({ quality }) => quality.name), ...(isFree ? ['free gas'] : [])],
    mustMint: isEnough && !isDeceived,
    isDeceived,
    seconds,
    isSlow: seconds > usualSeconds,
    restore,
    setRight() {
      for (const node of nodes) node.setFlaws(oneOfDelegated);
    },
    async close() {
      clearInterval(timer);
      await Promise.all(others.map((chain) => chain.close()));
    },
  };
}

const sound = simple('sound');
