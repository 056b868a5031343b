import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { greatest } from '../../base/bigint.ts';
import { listNetworks } from '../../chain/network-store.ts';
import { listNodeStates, type NodeStateRow } from '../../chain/node-state-store.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { NodeStatus } from '../../chain/rpc/pool/node-member.ts';
import { examples } from '../shared/examples.ts';
import { findRegistered } from '../shared/find.ts';
import { asOperator, type Operator, type Session } from '../shared/session.ts';
import { chainId as asChainId } from '../shared/values.ts';

const columns = {
  chainId: 'CHAIN',
  node: 'NODE',
  state: 'STATE',
  since: 'SINCE',
  head: 'HEAD',
  behind: 'BEHIND',
  ageSeconds: 'AGE S',
  finalized: 'FINAL',
  reason: 'REASON',
};

export function addNetworkStatusCommand(network: Command, session: Session): void {
  const status = network
    .command('status')
    .description('Poll every node and show whether it is used, why not, and since when')
    .argument('[chainId]', 'only this network', asChainId)
    .action((chainId: string | undefined) =>
      asOperator(session, async (operator) => {
        const wanted =
          chainId === undefined ? await listNetworks(operator.db) : [await findRegistered(operator, chainId)];
        const found = await Promise.all(wanted.map((each) => statusOf(operator, each)));
        operator.output.rows(found.flat(), columns);
      }),
    );
  examples(
    status,
    'network status',
    'network status 137',
    "network status --json | jq '.[] | {node, state, reason}'",
  );
}

// One poll may meet a node at a bad moment.
const looks = 3;
const pauseMs = 300;

async function statusOf({ clients, db }: Operator, network: Network) {
  const { chainId } = network;
  const pool = clients.pool(network);
  for (let look = 0; look < looks; look += 1) {
    if (look > 0) await wait(pauseMs);
    await pool.look();
  }
  const nodes = pool.status();
  const stored = new Map((await listNodeStates(db, chainId)).map((row) => [row.node, row]));
  const best = nodes.map(({ head }) => head?.number ?? -1n).reduce(greatest, -1n);
  return nodes.map((node) => describe(chainId, { node, best, stored: stored.get(node.node) }));
}

type Findings = {
  readonly node: NodeStatus;
  readonly best: bigint;
  /** What the processes of the service think of it. */
  readonly stored: NodeStateRow | undefined;
};

function describe(chainId: string, { node, best, stored }: Findings) {
  const { head, finalized } = node;
  // This command is too short to see whether a node lags. It shows at once that a node cannot be used.
  const isJudgedNow = node.state !== 'usable' && node.state !== stored?.state;
  const judged = isJudgedNow || stored === undefined ? { ...node, since: null } : stored;
  return {
    chainId,
    node: node.node,
    state: judged.state,
    reason: judged.reason === '' ? null : judged.reason,
    since: judged.since,
    head: head?.number.toString() ?? null,
    behind: head === undefined ? null : (best - head.number).toString(),
    ageSeconds: head === undefined ? null : Math.round((Date.now() - head.time.getTime()) / 1_000),
    finalized: finalized?.toString() ?? null,
  };
}
