import type { components } from '../contract/generated/blockchain.ts';
import type { Coverage, Freshness } from '../providers/shared/provider.ts';

type Told = {
  readonly completeTo?: Freshness | undefined;
  readonly coverage?: Coverage | undefined;
  readonly leftOut?: number | undefined;
};

/** What an answer covers, for its body; nothing where the provider does not know it. */
export function coverageOf({ completeTo, coverage }: Told): {
  readonly coverage?: components['schemas']['IndexCoverage'];
} {
  if (completeTo === undefined || coverage === undefined) return {};
  return {
    coverage: {
      from_block: coverage.fromBlock.toString(),
      to_block: (coverage.toBlock ?? completeTo.blockNumber).toString(),
      traces: coverage.traces,
      skipped_blocks: coverage.skippedBlocks.map(String),
      outside_transactions: [...coverage.outsideTransactions],
      rewards: coverage.rewards,
      ...(coverage.nftAmounts !== undefined && { nft_amounts: coverage.nftAmounts }),
      ledger_from_block: coverage.ledgerFrom?.toString() ?? null,
    },
  };
}

/** The same as headers, which files have too. */
export function coverageHeaders({ completeTo, coverage, leftOut = 0 }: Told): Record<string, string> {
  return {
    ...(leftOut > 0 && { 'X-Left-Out-Entries': String(leftOut) }),
    ...(completeTo !== undefined && {
      'X-Index-Block-Number': completeTo.blockNumber.toString(),
      'X-Index-Block-Hash': completeTo.blockHash,
      'X-Index-Block-Time': completeTo.blockTime.toISOString(),
    }),
    ...(coverage !== undefined && {
      'X-Index-From-Block': coverage.fromBlock.toString(),
      'X-Index-Traces': coverage.traces,
      'X-Index-Skipped-Blocks': String(coverage.skippedBlocks.length),
    }),
  };
}
