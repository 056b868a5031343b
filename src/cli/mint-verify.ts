import type { Command } from 'commander';
import { createMintNode } from '../chain/minting/mint-node.ts';
import { type ChainFinding, type Verified, verifyNetwork } from '../rwa/operators/mint-verify.ts';
import { examples } from './shared/examples.ts';
import { mintingNetworks } from './shared/minting-networks.ts';
import { asOperator, interruptible, type Operator, type Session } from './shared/session.ts';
import { chainId, moment } from './shared/values.ts';

type VerifyOptions = { since?: Date; chain?: string };

const columns = {
  chainId: 'CHAIN',
  contract: 'CONTRACT',
  tokenId: 'TOKEN',
  nftId: 'NFT',
  kind: 'KIND',
  detail: 'DETAIL',
};

// So many are printed; the count has all of them.
const mostShown = 10_000;

/** `tallystick mint verify`: compares every row with the chain. */
export function addVerifyCommand(mint: Command, session: Session): void {
  const verify = mint
    .command('verify')
    .description('Compare every NFT with the chain, also final ones; exit status 1 when one disagrees')
    .option('--since <time>', 'only blocks from this time on, such as 2027-01-31', moment)
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
  const { db, clients, output } = operator;
  const networks: Verified[] = [];
  const findings: ReturnType<typeof shown>[] = [];
  let disagreeing = 0;
  for (const network of await mintingNetworks(operator, options.chain)) {
    const progress = output.progress(`Comparing ${network.name}`, 'blocks');
    const node = createMintNode(clients.for(network));
    const run = { db, network, node, since: options.since, signal, onProgress: progress.update };
    const verified = await verifyNetwork(run, (finding) => {
      disagreeing += 1;
      if (findings.length < mostShown) findings.push(shown(finding));
    }).finally(progress.stop);
    networks.push(verified);
  }
  const tokens = networks.reduce((sum, network) => sum + network.tokens, 0);
  const counts = { networks: networks.length, tokens, disagreeing };
  if (output.json) output.record({ ...counts, findings });
  else {
    if (findings.length > 0) output.rows(findings, columns);
    output.record(counts);
  }
  for (const { chainId: id, toBlock } of networks) {
    output.say(`Network ${id}: compared up to its final block ${toBlock}.`);
  }
  output.say(
    disagreeing === 0
      ? 'All rows agree with the chain.'
      : 'What can be mended is shown by: tallystick recover',
  );
  return disagreeing === 0;
}

const shown = ({ chainId: id, contract, tokenId, nftId, kind, detail }: ChainFinding) => ({
  ...{ chainId: id, contract, tokenId, nftId },
  ...{ kind, detail },
});
