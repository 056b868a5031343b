import { type Command, Option } from 'commander';
import type { Network } from '../chain/rpc/client/network.ts';
import { nodeMessage } from '../chain/rpc/transport/node-message.ts';
import type { ClaimSecretVault } from '../rwa/assets/claim-secret.ts';
import { beginRecovery } from '../rwa/minting/compare/compared-contract-store.ts';
import { type Recovered, type RecoveredFinding, recoverNetwork } from '../rwa/operators/remedies/recover.ts';
import { recordByOperator } from './shared/audited.ts';
import { findingColumns, mostFindings, shownFinding } from './shared/chain-findings.ts';
import { examples } from './shared/examples.ts';
import { mintingNetworks, vaultOf } from './shared/find.ts';
import { findNamedSigners } from './shared/named-signers.ts';
import { showFound } from './shared/output.ts';
import { pinNode } from './shared/pinned-node.ts';
import { asOperator, interruptible, type Operator, type Session } from './shared/session.ts';
import { chainId, severalAddresses } from './shared/values.ts';

type RecoverOptions = { chain?: string; apply?: true; begin?: true; signer: string[] };

export function addRecoverCommand(program: Command, session: Session): void {
  const recover = program
    .command('recover')
    .description(
      'Rebuild rows and nonces from the contracts, after a restore from an older backup or a chain that was rolled back. ' +
        'Without --apply, only show what would be fixed. Exit status 1 while minting waits, or something is found',
    )
    .option('--chain <id>', 'only this network', chainId)
    .option(
      '--signer <address>',
      'signer that neither the database nor MINT_SIGNERS names any more; repeatable',
      severalAddresses,
      [],
    )
    .addOption(new Option('--begin', 'only pause minting; recover later').conflicts('apply'))
    .option(
      '--apply',
      'change the rows; minting waits meanwhile, and goes on when every mint of the chain is final',
    )
    .action((options: RecoverOptions) =>
      asOperator(session, (operator) =>
        options.begin === true
          ? begin(operator, options.chain)
          : interruptible(session, 'what is fixed stays; run it again.', async (signal) => {
              const isDone = await runRecover(operator, options, signal);
              if (!isDone) session.fail();
            }),
      ),
    );
  examples(recover, 'recover --begin', 'recover --chain 137', 'recover --chain 137 --apply');
}

async function begin(operator: Operator, id: string | undefined): Promise<void> {
  const networks = await mintingNetworks(operator, id);
  const detail = 'An operator has begun to recover the database.';
  await recordByOperator(operator.db, { action: 'recover.begin', subject: id ?? null });
  for (const network of networks) {
    await beginRecovery(operator.db, network.chainId, detail);
  }
  operator.output.record({ waiting: networks.map((network) => network.chainId) });
  operator.output.say('Minting waits. Next: tallystick recover, then tallystick recover --apply');
}

/** @returns with --apply whether minting goes on, and without whether there is nothing to fix */
async function runRecover(
  operator: Operator,
  { chain, apply, signer }: RecoverOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { output } = operator;
  const vault = apply === true ? vaultOf(operator) : undefined;
  if (apply === true)
    await recordByOperator(operator.db, { action: 'recover.apply', subject: chain ?? null });
  const findings: Shown[] = [];
  const counts = { found: 0, mendable: 0, left: 0, reopened: 0, waiting: 0 };
  const word = apply === true ? 'fixed' : 'wouldFix';
  const failed: string[] = [];
  const networks = await mintingNetworks(operator, chain);
  for (const network of networks) {
    const tell = (finding: RecoveredFinding) => {
      counts.found += 1;
      counts[finding.mended ? 'mendable' : 'left'] += 1;
      if (findings.length < mostFindings) findings.push(shown(network, finding, word));
    };
    try {
      const recovered = await recoverOne(operator, network, { vault, signers: signer, signal, tell });
      counts.waiting += recovered.waiting;
      counts.reopened += recovered.reopened;
      for (const { contract, why } of recovered.failed)
        failed.push(`${contract} of network ${network.chainId}: ${why}`);
    } catch (error) {
      signal.throwIfAborted();
      if (networks.length === 1) throw error;
      failed.push(`network ${network.chainId}: ${nodeMessage(error)}`);
    }
  }
  const { found, mendable, left, reopened, waiting } = counts;
  const isApplied = vault !== undefined;
  const sentAgain = isApplied ? { reopened } : { wouldReopen: reopened };
  const record = { applied: isApplied, found, [word]: mendable, left, ...sentAgain, waiting, failed };
  showFound(output, record, { findings }, { ...findingColumns, [word]: headings[word] });
  output.say(nextStep({ ...record, reopened }));
  return waiting === 0 && failed.length === 0 && (apply === true || found + reopened === 0);
}

type One = {
  readonly vault: ClaimSecretVault | undefined;
  readonly signers: readonly string[];
  readonly signal: AbortSignal;
  readonly tell: (finding: RecoveredFinding) => void;
};

async function recoverOne(
  operator: Operator,
  network: Network,
  { vault, signers, signal, tell }: One,
): Promise<Recovered> {
  const { db, output } = operator;
  const node = await pinNode(operator, network);
  const named = await findNamedSigners(operator, network.chainId, 'name it with --signer');
  const progress = output.progress(`Recovering ${network.name}`);
  const ours = [...signers, ...named];
  const run = { db, network, node, vault, signers: ours, signal, onProgress: progress.update };
  return recoverNetwork(run, tell).finally(progress.stop);
}

// Of a run with --apply, and without.
const headings = { fixed: 'FIXED', wouldFix: 'WOULD FIX' };

type Shown = ReturnType<typeof shown>;

const shown = (
  { chainId: id }: Network,
  { mended, ...finding }: RecoveredFinding,
  word: keyof typeof headings,
) => ({ ...shownFinding(id, finding), [word]: mended });

type Counts = {
  readonly applied: boolean;
  readonly found: number;
  readonly left: number;
  /** Transactions that are sent again, or would be. */
  readonly reopened: number;
  readonly waiting: number;
  /** Contracts and networks that could not be recovered, and why. */
  readonly failed: readonly string[];
};

function nextStep({ applied, failed, found, left, reopened, waiting }: Counts): string {
  if (failed.length > 0) {
    return `Not recovered: ${failed.join('; ')}. Minting waits on these networks. Run it again when the cause is gone.`;
  }
  if (waiting > 0) {
    return `${waiting} mint(s) are not final yet: minting waits. Run it again when their blocks are final.`;
  }
  const rest = [
    reopened === 0 ? '' : ` The chain has lost ${reopened} transaction(s): what they minted is sent again.`,
    left === 0 ? '' : ' What is not fixed needs a person: see DETAIL.',
  ].join('');
  if (applied) return `Recovered; minting goes on.${rest}`;
  return found + reopened === 0
    ? 'Nothing is to be fixed. If minting waits, let it go on with: tallystick recover --apply'
    : `Nothing was changed. Fix it with: tallystick recover --apply${rest}`;
}
