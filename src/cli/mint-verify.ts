import type { Command } from 'commander';
import { type Verified, verifyNetwork } from '../rwa/operators/remedies/mint-verify.ts';
import { findingColumns, mostFindings, shownFinding } from './shared/chain-findings.ts';
import { examples } from './shared/examples.ts';
import { mintingNetworks } from './shared/find.ts';
import { showFound } from './shared/output.ts';
import { pinKnownNode } from './shared/pinned-node.ts';
import { asOperator, interruptible, type Operator, type Session } from './shared/session.ts';
import { chainId, moment } from './shared/values.ts';

type VerifyOptions = { since?: Date; chain?: string };

export function addMintVerifyCommand(mint: Command, session: Session): void {
  const verify = mint
    .command('verify')
    .description(
      'Compare every NFT and its owner with the chain, also final NFTs; exit status 1 on a difference',
    )
    .option(
      '--since <date>',
      'only mints in blocks since a date (midnight UTC) or a timestamp, and no owners',
      moment,
    )
    .option('--chain <id>', 'only this network', chainId)
    .action((options: VerifyOptions) =>
      asOperator(session, (operator) =>
        interruptible(session, 'nothing was changed.', async (signal) => {
          const agrees = await runVerify(operator, options, signal);
          if (!agrees) session.fail();
        }),
      ),
    );
  examples(verify, 'mint verify', 'mint verify --chain 137 --since 2027-01-31 --json');
}

/** @returns whether all rows agree with the chain */
async function runVerify(operator: Operator, options: VerifyOptions, signal: AbortSignal): Promise<boolean> {
  const { db, output } = operator;
  const networks: Verified[] = [];
  const findings: ReturnType<typeof shownFinding>[] = [];
  let disagreeing = 0;
  for (const network of await mintingNetworks(operator, options.chain)) {
    const progress = output.progress(`Comparing ${network.name}`, 'blocks');
    const node = await pinKnownNode(operator, network);
    const run = { db, network, node, since: options.since, signal, onProgress: progress.update };
    const verified = await verifyNetwork(run, (finding) => {
      disagreeing += 1;
      if (findings.length < mostFindings) findings.push(shownFinding(finding.chainId, finding));
    }).finally(progress.stop);
    networks.push(verified);
  }
  const tokens = networks.reduce((sum, network) => sum + network.tokens, 0);
  const counts = { networks: networks.length, tokens, disagreeing };
  showFound(output, counts, { findings }, findingColumns);
  for (const { chainId: id, toBlock } of networks) {
    output.say(`Network ${id}: compared up to its final block ${toBlock}.`);
  }
  output.say(
    disagreeing === 0
      ? 'All rows agree with the chain.'
      : 'What can be fixed is shown by: tallystick recover',
  );
  return disagreeing === 0;
}
