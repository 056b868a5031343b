import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { errorText } from '../../base/thrown.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import { acquireLease, type Lease, LeaseHeldError } from '../../db/leases/lease.ts';
import { findLeaseHolder } from '../../db/leases/lease-store.ts';
import { analyzeTables } from '../../db/schema/analyze.ts';
import { backfill } from '../../providers/indexer/follow/backfill.ts';
import { indexLeaseName } from '../../providers/indexer/follow/index-runner.ts';
import { blockedReason } from '../../providers/indexer/follow/standstill.ts';
import { findIndexState } from '../../providers/indexer/store/write/index-state-store.ts';
import { recordByOperator } from '../shared/audited.ts';
import { examples } from '../shared/examples.ts';
import { OperationError, UsageError } from '../shared/failure.ts';
import { asOperator, interruptible, type Operator, type Session } from '../shared/session.ts';
import { chainId as asChainId, wholeNumber } from '../shared/values.ts';
import { withNetworkIndex } from './with-network-index.ts';

type BackfillOptions = { to?: number; wait?: true };

export function addBackfillCommand(index: Command, session: Session): void {
  const command = index
    .command('backfill')
    .description(
      'Index blocks in the foreground, from the head of the index up to a block. Indexed blocks stay indexed',
    )
    .argument('<chainId>', 'decimal id of a registered network', asChainId)
    .option(
      '--to <block>',
      'last block; by default the newest block of the node',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .option('--wait', 'wait while another process indexes the network, instead of failing')
    .action((chainId: string, options: BackfillOptions) =>
      asOperator(session, (operator) =>
        interruptible(
          session,
          'all blocks that were done stay; the same command goes on from there.',
          (signal) => runBackfill(operator, { ...options, chainId, signal }),
        ),
      ),
    );
  examples(command, 'index backfill 137', 'index backfill 137 --to 50000000 --wait');
}

type Run = BackfillOptions & { readonly chainId: string; readonly signal: AbortSignal };

async function runBackfill(operator: Operator, { chainId, to, wait: waits, signal }: Run): Promise<void> {
  await withNetworkIndex(operator, chainId, async (index, network) => {
    const end = await endOf(index, to === undefined ? undefined : BigInt(to));
    const start = (await findIndexState(operator.db, chainId))?.startBlock ?? BigInt(network.indexFrom);
    if (end < start) {
      throw new UsageError(`The index of network ${chainId} begins at block ${start}, after block ${end}.`);
    }
    const lease = await takeLease(operator, network, { waits: waits === true, signal });
    const progress = operator.output.progress('Indexing', 'blocks');
    const started = performance.now();
    const follower = index.createFollower(end);
    try {
      // Before the first block: what an interrupted one has written stays.
      const details = { to: end.toString() };
      await recordByOperator(operator.db, { action: 'index.backfill', subject: chainId, details });
      const { completeTo, blocks } = await backfill({
        follower,
        state: () => findIndexState(operator.db, chainId),
        startBlock: start,
        to: end,
        signal: AbortSignal.any([signal, lease.lost]),
        onProgress: (done, total) => progress.update(Number(done), Number(total)),
        pause: (ms) => wait(ms, undefined, { signal }),
      });
      const seconds = (performance.now() - started) / 1_000;
      while (!signal.aborted && (await index.filler.fill()));
      if (blocks > 0n) await analyzeTables(operator.db);
      operator.output.record({
        chainId,
        completeTo: completeTo?.toString() ?? null,
        blocks: blocks.toString(),
        seconds: Math.round(seconds * 10) / 10,
        blocksPerSecond: Math.round((Number(blocks) / seconds) * 10) / 10,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      const block = follower.blockedAt();
      const reason = block === undefined ? errorText(error) : blockedReason(chainId, block, errorText(error));
      const why = lease.lost.aborted ? 'the lease of the index was lost' : reason;
      throw new OperationError(
        `${why}\nAll blocks that were done stay; the same command goes on from there.`,
        { cause: error },
      );
    } finally {
      progress.stop();
      await lease.release();
    }
  });
}

async function endOf(index: { nodeHead(): Promise<bigint> }, to: bigint | undefined): Promise<bigint> {
  const head = await index.nodeHead().catch((error: unknown) => {
    throw new OperationError(errorText(error), { cause: error });
  });
  if (to !== undefined && to > head) {
    throw new UsageError(`The node is at block ${head}: --to must not be above it.`);
  }
  return to ?? head;
}

/**
 * Acquires the right to index the network, which one process has at a time.
 * @throws OperationError when another process has it and the command does not wait
 */
async function takeLease(
  operator: Operator,
  { chainId }: Network,
  { waits, signal }: { readonly waits: boolean; readonly signal: AbortSignal },
): Promise<Lease> {
  const name = indexLeaseName(chainId);
  const { db, log } = operator;
  const take = (wait: boolean) => acquireLease({ db, name, log, signal, wait });
  try {
    return await take(false);
  } catch (error) {
    if (!(error instanceof LeaseHeldError)) throw error;
  }
  const holder = await findLeaseHolder(db, name);
  const since = holder ? ` (since ${holder.since.toISOString()})` : '';
  const who = `${holder?.process ?? 'another process'}${since}`;
  if (!waits) {
    throw new OperationError(
      `Network ${chainId} is being indexed by ${who}, which does the same work; tallystick index status shows ` +
        'how far it is. Stop it, or wait for it with --wait.',
    );
  }
  operator.output.say(`Waiting for ${who} to let go of network ${chainId}.`);
  return take(true);
}
