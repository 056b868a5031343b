import type { Command } from 'commander';
import { findIndexState } from '../../providers/indexer/store/write/index-state-store.ts';
import { insertSkip } from '../../providers/indexer/store/write/skipped-block-store.ts';
import { audited } from '../shared/audited.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import { asOperator, type Operator, type Session } from '../shared/session.ts';
import { chainId as asChainId, wholeNumber } from '../shared/values.ts';

export function addSkipCommand(index: Command, session: Session): void {
  const skip = index
    .command('skip')
    .description(
      'Skip a block that cannot be read, so that the index goes on. What the block moved stays unknown',
    )
    .argument('<chainId>', 'decimal', asChainId)
    .argument('<block>', 'its number; index status names it', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .action((chainId: string, block: number) =>
      asOperator(session, (operator) => runSkip(operator, chainId, BigInt(block))),
    );
  examples(skip, 'index skip 25 6541');
}

/** @throws UsageError when there is no index, or when it has the block */
async function runSkip({ db, output }: Operator, chainId: string, block: bigint): Promise<void> {
  const state = await findIndexState(db, chainId);
  if (state === undefined) {
    throw new UsageError(`Network ${chainId} has no index. List those that have: tallystick index status`);
  }
  const { startBlock, head, stuck, lastError } = state;
  if (block < startBlock || (head !== undefined && block <= head.number)) {
    const next = head === undefined ? startBlock : head.number + 1n;
    throw new UsageError(
      `Block ${block} is not ahead of the index of network ${chainId}, which goes on at block ${next}.`,
    );
  }
  const reason = (stuck?.block === block ? stuck.reason : lastError?.message) ?? 'skipped by the operator';
  const added = await audited(
    db,
    (tx) => insertSkip(tx, chainId, block, reason),
    (isNew) =>
      isNew ? { action: 'index.skip', subject: chainId, details: { block: block.toString() } } : undefined,
  );
  output.record({ chainId, block: block.toString(), reason, recorded: added });
  output.say(
    'A running indexer leaves it out when it next tries the block; index verify names it as skipped.',
  );
}
