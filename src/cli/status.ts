import type { Command } from 'commander';
import type { Database } from '../contract/transaction.ts';
import { listProcesses, type SeenProcess } from '../db/records/process-store.ts';
import { listQueueLevels, type QueueLevel } from '../jobs/job-count-store.ts';
import { type LaneStatus, listLanes } from '../rwa/minting/lane-status-store.ts';
import { remedyOf } from '../rwa/minting/mint-reason.ts';
import { examples } from './shared/examples.ts';
import { blocksBehind, indexStateOf, listIndexes, type NetworkIndexState } from './shared/index-state.ts';
import { asOperator, type Session } from './shared/session.ts';

type Row = {
  readonly part: 'process' | 'lane' | 'index' | 'queue';
  readonly name: string;
  readonly state: string;
  /** Since when it is so; of a process, when it was started. */
  readonly since: Date | null;
  readonly detail: string;
};

const columns = { part: 'PART', name: 'NAME', state: 'STATE', since: 'SINCE', detail: 'DETAIL' };

export function addStatusCommand(program: Command, session: Session): void {
  const status = program
    .command('status')
    .description('Show processes, mint lanes, indexes and job queues: what each does, and what waits')
    .action(() =>
      asOperator(session, async ({ db, output }) => {
        const parts = [processes, lanes, indexes, queues].map((list) => list(db));
        output.rows((await Promise.all(parts)).flat(), columns);
      }),
    );
  examples(status, 'status', 'status --json | jq \'.[] | select(.part == "process")\'');
}

async function processes(db: Database): Promise<Row[]> {
  const found = await listProcesses(db);
  if (found.length > 0) return found.map(ofProcess);
  return [
    {
      part: 'process',
      name: 'none',
      state: 'not running',
      since: null,
      detail: 'no process of the service has a connection to this database',
    },
  ];
}

const ofProcess = ({ name, roles, version, startedAt, seenAt, isSilent }: SeenProcess): Row => ({
  part: 'process',
  name,
  since: startedAt,
  state: isSilent ? 'silent' : 'running',
  detail: inWords(roles.join(','), version, `last heartbeat ${seenAt.toISOString()}`),
});

const lanes = async (db: Database) => (await listLanes(db, {})).map(ofLane);

function ofLane({ chainId, signer, holder, queued, inFlight, oldestQueuedAt, ...lane }: LaneStatus): Row {
  const { paused, pausedAt, why } = lane;
  const oldest = oldestQueuedAt && `the oldest since ${oldestQueuedAt.toISOString()}`;
  const busy = queued > 0 || inFlight > 0 ? 'minting' : 'idle';
  return {
    part: 'lane',
    name: `${chainId} ${signer}`,
    since: pausedAt,
    state: paused ?? (holder === null ? 'no worker' : busy),
    detail: inWords(
      ...[holder && `worker ${holder}`, `${queued} queued`, oldest, `${inFlight} in flight`],
      ...[why, paused && remedyOf(paused)],
    ),
  };
}

const indexes = async (db: Database) => (await listIndexes(db)).map(ofIndex);

function ofIndex(index: NetworkIndexState): Row {
  const { chainId, network, state, holder } = index;
  const behind = blocksBehind(state, state?.nodeHead);
  return {
    part: 'index',
    name: `${chainId} ${network?.name ?? ''}`.trim(),
    state: indexStateOf({ ...index, behind }),
    since: state?.stuck?.since ?? null,
    detail: inWords(
      ...[holder && `indexer ${holder.process}`, state?.head && `complete to ${state.head.number}`],
      ...[behind !== undefined && `${behind} behind`, state?.stuck?.reason, state?.lastError?.message],
    ),
  };
}

const queues = async (db: Database) => (await listQueueLevels(db)).map(ofQueue);

const ofQueue = ({ queue, waiting, active, oldestDue }: QueueLevel): Row => ({
  part: 'queue',
  name: queue,
  since: oldestDue,
  state: active > 0 ? 'active' : oldestDue === null ? 'idle' : 'waiting',
  detail: inWords(`${waiting} waiting`, `${active} active`),
});

const inWords = (...parts: readonly (string | false | null | undefined)[]) =>
  parts.filter((part) => typeof part === 'string' && part !== '').join('; ');
