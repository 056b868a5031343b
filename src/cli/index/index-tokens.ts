import type { Command } from 'commander';
import { refreshContracts } from '../../providers/indexer/store/tokens/contract-store.ts';
import { recordByOperator } from '../shared/audited.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import { asOperator, type Session } from '../shared/session.ts';
import { addressValue, chainId as asChainId } from '../shared/values.ts';

export function addIndexTokensCommands(index: Command, session: Session): void {
  const tokens = index.command('tokens').description('Manage what the index knows of tokens');
  const refresh = tokens
    .command('refresh')
    .description(
      'Have name, symbol and decimals read again, of one contract or of all. The known texts stay until then',
    )
    .argument('<chainId>', 'decimal', asChainId)
    .argument('[contract]', 'only this contract', addressValue)
    .action((chainId: string, contract: string | undefined) =>
      asOperator(session, async ({ db, output }) => {
        const contracts = await refreshContracts(db, chainId, contract?.toLowerCase());
        if (contracts === 0) {
          throw new UsageError(
            contract === undefined
              ? `The index of network ${chainId} knows no contracts. List the indexes: tallystick index status`
              : `The index of network ${chainId} does not know ${contract}.`,
          );
        }
        await recordByOperator(db, {
          action: 'index.tokens_refresh',
          subject: `${chainId} ${contract ?? 'all'}`,
        });
        output.record({ chainId, contracts });
      }),
    );
  examples(
    refresh,
    'index tokens refresh 137',
    'index tokens refresh 137 0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
  );
}
