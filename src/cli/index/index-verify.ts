import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Database } from '../../contract/transaction.ts';
import { findIndexState } from '../../providers/indexer/store/write/index-state-store.ts';
import { listSkippedBlocks } from '../../providers/indexer/store/write/skipped-block-store.ts';
import { sampleBlocks, verifyBlocks } from '../../providers/indexer/verify-blocks.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import { showFound } from '../shared/output.ts';
import { asOperator, interruptible, type Operator, type Session } from '../shared/session.ts';
import { chainId as asChainId, wholeNumber } from '../shared/values.ts';
import { runReconcile } from './index-reconcile.ts';
import { withNetworkIndex } from './with-network-index.ts';

type VerifyOptions = {
  reconcile?: number;
  blocks: number;
  seed?: number;
  from?: number;
  to?: number;
  scan?: true;
};

const columns = { block: 'BLOCK', table: 'TABLE', kind: 'KIND', row: 'ROW' };
const maxSeed = 2 ** 32 - 1;
const block = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export function addIndexVerifyCommand(index: Command, session: Session): void {
  const verify = index
    .command('verify')
    .description(
      'Read random blocks from the node again and compare every row; exit status 1 when a row differs',
    )
    .argument('<chainId>', 'decimal id of a registered network', asChainId)
    .option(
      '--blocks <count>',
      'blocks to read; all when the range has no more',
      wholeNumber(1, 1_000_000),
      100,
    )
    .option(
      '--seed <number>',
      'pick the same blocks as the run that printed this number',
      wholeNumber(0, maxSeed),
    )
    .option('--from <block>', 'first block to pick from; by default the first of the index', block)
    .option('--to <block>', 'last block to pick from; by default the last of the index', block)
    .option(
      '--reconcile <wallets>',
      'instead of blocks, compare the balances of so many random wallets with the sums of their histories',
      wholeNumber(1, 100_000),
    )
    .option('--scan', 'also search the whole tables for rows of wallets that these blocks do not touch')
    .action((chainId: string, options: VerifyOptions) =>
      asOperator(
        session,
        (operator) =>
          interruptible(session, 'nothing was changed.', async (signal) => {
            const { reconcile: count, seed = randomInt(maxSeed + 1) } = options;
            const agrees =
              count === undefined
                ? await runVerify(operator, { ...options, chainId, signal })
                : await runReconcile(operator, { chainId, count, seed, signal });
            if (!agrees) session.fail();
          }),
        { isWhole: options.scan === true },
      ),
    );
  examples(
    verify,
    'index verify 137',
    'index verify 137 --blocks 1000 --seed 42 --scan',
    'index verify 137 --reconcile 500',
  );
}

type Run = VerifyOptions & { readonly chainId: string; readonly signal: AbortSignal };

/** @returns whether every compared row agrees with the node */
async function runVerify(operator: Operator, run: Run): Promise<boolean> {
  const { chainId, signal, scan, seed = randomInt(maxSeed + 1) } = run;
  const { db, output } = operator;
  return withNetworkIndex(operator, chainId, async (index, network) => {
    const { from, to } = await rangeOf(db, run);
    const skips = new Set((await listSkippedBlocks(db, chainId, { from, to })).map(({ number }) => number));
    const numbers = sampleBlocks(from, to, run.blocks, seed).filter((number) => !skips.has(number));
    output.say(`Comparing ${numbers.length} of the blocks ${from} to ${to}, picked with --seed ${seed}.`);
    const progress = output.progress('Comparing', 'blocks');
    const { blocks, transactions, differences, untraced } = await verifyBlocks({
      db,
      chainId,
      numbers,
      readBlock: (number) => index.readBlock(number),
      traced: network.indexTraces !== 'none',
      scan: scan === true,
      signal,
      onProgress: progress.update,
      pause: (ms) => wait(ms, undefined, { signal }),
    }).finally(progress.stop);
    const shown = differences.map((difference) => ({ ...difference, block: difference.block.toString() }));
    const counts = { seed, blocks, transactions, differing: differences.length, untraced: untraced.length };
    showFound(output, { chainId, ...counts }, { differences: shown }, columns);
    if (untraced.length > 0) {
      output.say(`${untraced.length} block(s) were not compared: the node has no traces of them.`);
    }
    if (skips.size > 0)
      output.say(`${skips.size} block(s) of the range are skipped: nothing of them is in the index.`);
    output.say(
      differences.length === 0
        ? 'Every row that was compared agrees with the node.'
        : `The index differs from the node. Begin it again with: tallystick index reset ${chainId}`,
    );
    return differences.length === 0;
  });
}

/** Returns the range of blocks to pick from. @throws UsageError when the index lacks a block of the range */
async function rangeOf(db: Database, { chainId, from, to }: Run): Promise<{ from: bigint; to: bigint }> {
  const state = await findIndexState(db, chainId);
  if (state?.head === undefined) {
    throw new UsageError(`Network ${chainId} has no indexed block. See: tallystick index status`);
  }
  const first = from === undefined ? state.startBlock : BigInt(from);
  const last = to === undefined ? state.head.number : BigInt(to);
  if (first < state.startBlock || last > state.head.number || first > last) {
    throw new UsageError(
      `The index of network ${chainId} has the blocks ${state.startBlock} to ${state.head.number}: ` +
        '--from and --to must be within.',
    );
  }
  return { from: first, to: last };
}
