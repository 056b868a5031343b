import type { LevelSource, Metrics } from '../../base/metrics.ts';
import { formatUnits } from '../../chain/decimal.ts';
import { createMintNode } from '../../chain/minting/mint-node.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import { countDisagreements } from '../minting/compare/compared-contract-store.ts';
import { type LaneStatus, listLanes, mostCounted } from '../minting/lane-status-store.ts';
import type { LaneSigner } from './staff.ts';
import { countNotes, type NoteCount } from './stores/standstill-store.ts';
import { findHighestNonce } from './stores/transaction-store.ts';

const ofLane = ['chain_id', 'signer'];

const laneGauges = {
  oldest: {
    name: 'tallystick_mint_oldest_queued_seconds',
    help: 'For how long the NFT that has waited longest has been waiting to be sent; 0 when none waits.',
    labels: ['chain_id'],
  },
  inFlight: {
    name: 'tallystick_mint_in_flight',
    help: 'Transactions that are signed and not deep enough yet.',
    labels: ofLane,
  },
  held: {
    name: 'tallystick_mint_lane_held',
    help: '1 while some process works on the lane, 0 while none does; absent while an operator has stopped it.',
    labels: ofLane,
  },
  paused: {
    name: 'tallystick_mint_lane_paused',
    help: '1 with the reason while mints of the lane wait: to be sent, for a block, or to become final; absent otherwise.',
    labels: [...ofLane, 'reason'],
  },
} as const;

const countGauges = {
  queued: {
    name: 'tallystick_mint_queued',
    help: `NFTs that wait to be sent, on a network; ${mostCounted} for so many and more.`,
    labels: ['chain_id'],
  },
  waiting: {
    name: 'tallystick_mint_waiting',
    help: 'NFTs under way that wait for a reason of their own, by the reason; absent while none does.',
    labels: ['chain_id', 'reason'],
  },
  unexplained: {
    name: 'tallystick_mint_unexplained',
    help: 'NFTs and lanes that stall for no known reason. It should be 0.',
    labels: ['chain_id'],
  },
} as const;

const signerGauges = {
  balance: {
    name: 'tallystick_mint_signer_balance',
    help: "What the signer can spend, in whole units of the network's currency.",
    labels: ofLane,
  },
  gap: {
    name: 'tallystick_mint_nonce_gap',
    help: 'Nonces that are stored but not used, in blocks (latest). Below 0 somebody else uses the key.',
    labels: [...ofLane, 'at'],
  },
} as const;

type Options = {
  readonly db: Database;
  readonly networks: NetworkRegistry;
  readonly clients: RpcClients;
  readonly signers: () => readonly LaneSigner[];
};

/** Registers the levels of minting: those of every lane from the database, those of our signers from the nodes. */
export function watchMinting(metrics: Metrics, options: Options): void {
  metrics.levels({
    gauges: { ...laneGauges, ...countGauges },
    sources: () => [{ name: 'mint_lanes', read: () => readAll(options.db) }],
  });
  metrics.levels({
    gauges: signerGauges,
    sources: () => options.signers().map((signer) => signerSource(options, signer)),
  });
}

/**
 * Registers the levels of lanes for processes that run also while no worker does. There may be many such processes, so
 * nothing is counted.
 */
export function watchLanes(metrics: Metrics, { db }: Pick<Options, 'db'>): void {
  metrics.levels({
    gauges: laneGauges,
    sources: () => [{ name: 'mint_lanes', read: async () => laneLevels(await listLanes(db, {}, 0)) }],
  });
}

type CountLevels = Awaited<
  ReturnType<LevelSource<keyof typeof laneGauges | keyof typeof countGauges>['read']>
>;

async function readAll(db: Database): Promise<CountLevels> {
  const [lanes, notes] = await Promise.all([listLanes(db, {}), countNotes(db)]);
  return {
    ...laneLevels(lanes),
    queued: perNetwork(lanes).map(({ chainId, queued }) => ofNetwork(chainId, queued)),
    waiting: notes.map(({ chainId, reason, nfts }) => ({
      labels: { chain_id: chainId, reason },
      value: nfts,
    })),
    unexplained: perNetwork(lanes).map(({ chainId }) =>
      ofNetwork(chainId, countUnexplained(chainId, lanes, notes)),
    ),
  };
}

const ofNetwork = (chainId: string, value: number) => ({ labels: { chain_id: chainId }, value });

/** Every lane has the queue of its network, which must count once. */
const perNetwork = (lanes: readonly LaneStatus[]) => [
  ...new Map(lanes.map((lane) => [lane.chainId, lane])).values(),
];

function laneLevels(lanes: readonly LaneStatus[]) {
  const level = (lane: LaneStatus, value: number) => ({
    labels: { chain_id: lane.chainId, signer: lane.signer },
    value,
  });
  return {
    oldest: perNetwork(lanes).map(({ chainId, oldestQueuedAt: at }) =>
      ofNetwork(chainId, at === null ? 0 : Math.max(0, (Date.now() - at.getTime()) / 1_000)),
    ),
    inFlight: lanes.map((lane) => level(lane, lane.inFlight)),
    // Nobody waits for a lane that an operator has stopped, such as that of a replaced signer.
    held: lanes
      .filter(({ paused }) => paused !== 'operator')
      .map((lane) => level(lane, lane.holder === null ? 0 : 1)),
    paused: lanes.flatMap((lane) => {
      const { labels, value } = level(lane, 1);
      return lane.paused === null ? [] : [{ labels: { ...labels, reason: lane.paused }, value }];
    }),
  };
}

function countUnexplained(
  network: string,
  lanes: readonly LaneStatus[],
  notes: readonly NoteCount[],
): number {
  const still = lanes.filter(({ chainId, paused }) => chainId === network && paused === 'unexplained');
  const noted = notes.find(({ chainId, reason }) => chainId === network && reason === 'unexplained');
  return still.length + (noted?.nfts ?? 0);
}

function signerSource(
  { db, networks, clients }: Options,
  { chainId, signer }: LaneSigner,
): LevelSource<keyof typeof signerGauges> {
  const { address } = signer;
  const labels = { chain_id: chainId, signer: address };
  return {
    name: `mint_signer ${address} on ${chainId}`,
    async read() {
      const network = await networks.find(chainId);
      if (network === undefined) return {};
      const node = createMintNode(clients.for(network));
      const [balance, latest] = await Promise.all([
        node.balance(address),
        node.transactionCount(address, 'latest'),
      ]);
      // Read last: a transaction is stored before the nodes know it.
      const highest = await findHighestNonce(db, { chainId, signer: address });
      // A signer that has stored no transaction continues with the count of the chain.
      const next = highest === undefined ? latest : highest + 1n;
      // A gauge is a floating point number. The rounding does not matter here.
      const whole = Number(formatUnits(balance, network.currency.decimals));
      return {
        balance: [{ labels, value: whole }],
        gap: [{ labels: { ...labels, at: 'latest' }, value: Number(next - latest) }],
      };
    },
  };
}

/** Registers how many tokens disagree with their rows. */
export function watchDisagreements(metrics: Metrics, { db }: { readonly db: Database }): void {
  metrics.levels({
    gauges: {
      disagreements: {
        name: 'tallystick_mint_disagreements',
        help: 'Tokens of which chain and rows do not say the same, as the audit found; stays at 0.',
        labels: ['chain_id'],
      },
    },
    sources: () => [
      {
        name: 'mint_disagreements',
        async read() {
          const networks = await countDisagreements(db);
          return { disagreements: networks.map(({ chainId, count }) => ofNetwork(chainId, count)) };
        },
      },
    ],
  });
}
