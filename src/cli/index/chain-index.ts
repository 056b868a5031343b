import type { Command } from 'commander';
import { deleteIndex } from '../../providers/indexer/store/rollback/reset-store.ts';
import { recordByOperator } from '../shared/audited.ts';
import { confirm } from '../shared/confirm.ts';
import { examples } from '../shared/examples.ts';
import { asOperator, interruptible, type Session } from '../shared/session.ts';
import { chainId as asChainId } from '../shared/values.ts';
import { addBackfillCommand } from './index-backfill.ts';
import { addSkipCommand } from './index-skip.ts';
import { addIndexStatusCommand } from './index-status.ts';
import { addIndexTokensCommands } from './index-tokens.ts';
import { addIndexVerifyCommand } from './index-verify.ts';

export function addIndexCommands(program: Command, session: Session): void {
  const index = program.command('index').description('Manage the built-in index of histories and NFTs');
  addIndexStatusCommand(index, session);
  addBackfillCommand(index, session);
  addIndexVerifyCommand(index, session);
  addSkipCommand(index, session);
  addIndexTokensCommands(index, session);
  addResetCommand(index, session);
}

function addResetCommand(index: Command, session: Session): void {
  const reset = index
    .command('reset')
    .description(
      'Delete the index of a network, registered or not; an indexer of the network begins again at --index-from',
    )
    .argument('<chainId>', 'decimal', asChainId)
    .option('--yes', 'do not ask for confirmation')
    .action((chainId: string, { yes }: { yes?: true }) =>
      asOperator(
        session,
        (operator) =>
          interruptible(session, 'nothing was deleted.', async (signal) => {
            await confirm(session, `Delete the index of network ${chainId}`, yes);
            await recordByOperator(operator.db, { action: 'index.reset', subject: chainId });
            const progress = operator.output.progress('Deleting', 'parts');
            const deleted = await deleteIndex(operator.db, chainId, {
              signal,
              onProgress: progress.update,
            }).finally(progress.stop);
            operator.output.record({ chainId, historyRows: deleted });
          }),
        { isWhole: true },
      ),
    );
  examples(reset, 'index reset 31337', 'index reset 31337 --yes');
}
