import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { areHeld, atLeast, below } from '../limits.ts';
import { rounded, type Suite } from '../suite.ts';
import type { BenchChain } from './bench-chain.ts';
import { openBenchChain } from './kept-chain.ts';
import type { IndexerRun } from './run-indexer.ts';
import { indexWhole, type Traces } from './whole-index.ts';

/** INDEX_PARALLEL when nobody sets it. */
const parallel = 8;
const least = { plain: 0.8, traced: 0.7 };
const mostMemoryMb = 400;

type Say = (line: string) => void;

export const indexSuite: Suite = {
  about: 'Indexing a local chain of 2,000 blocks with 50 mixed transactions each, against downloading it',
  async run({ isQuick, say }) {
    const chain = await openBenchChain({ blocks: isQuick ? 200 : 2_000, say });
    try {
      const plain = await compare(chain, 'none', say);
      const traced = await compare(chain, 'trace', say);
      return figures(chain, plain, traced);
    } finally {
      await chain.close();
    }
  },
};

type Download = { readonly milliseconds: number; readonly bytes: number };
type Comparison = {
  readonly downloadMs: number;
  readonly megabytes: number;
  readonly indexed: IndexerRun;
  readonly rows: number;
};

/** Downloads before and after, so that a machine that grows slower or faster meanwhile does not decide. */
async function compare(chain: BenchChain, traces: Traces, say: Say): Promise<Comparison> {
  say(traces === 'none' ? 'blocks and receipts' : 'blocks, receipts and traces');
  const before = await download(chain, traces, say);
  const indexed = await indexWhole(chain, { traces, parallel, say });
  const after = await download(chain, traces, say);
  const downloadMs = (before.milliseconds + after.milliseconds) / 2;
  return { ...indexed, downloadMs, megabytes: Math.round(before.bytes / 1e6) };
}

async function download({ rpcUrl, first, last }: BenchChain, traces: Traces, say: Say): Promise<Download> {
  const range = ['--first', String(first), '--last', String(last), '--parallel', String(parallel)];
  const program = [`${import.meta.dirname}/download.ts`, '--url', rpcUrl, ...range];
  const flags = traces === 'trace' ? ['--traces'] : [];
  const { stdout } = await promisify(execFile)(process.execPath, [...program, ...flags], {
    timeout: 600_000,
  });
  const done: Download = JSON.parse(stdout);
  say(`  downloaded ${Math.round(done.bytes / 1e6)} MB in ${rounded(done.milliseconds / 1_000)} s`);
  return done;
}

function figures(chain: BenchChain, plain: Comparison, traced: Comparison) {
  const { transactions, first, last } = chain;
  const ratios = {
    indexedToDownload: rounded(plain.downloadMs / plain.indexed.milliseconds),
    indexedToDownloadTraced: rounded(traced.downloadMs / traced.indexed.milliseconds),
  };
  const peak = Math.max(plain.indexed.memoryMb.peak, traced.indexed.memoryMb.peak);
  const shown = ({ downloadMs, indexed, rows, megabytes }: Comparison) => ({
    indexedPerSecond: rounded((transactions * 1_000) / indexed.milliseconds),
    downloadedPerSecond: rounded((transactions * 1_000) / downloadMs),
    megabytes,
    historyRows: rows,
    memoryMb: indexed.memoryMb,
  });
  const limits = {
    indexedToDownload: atLeast(ratios.indexedToDownload, least.plain),
    indexedToDownloadTraced: atLeast(ratios.indexedToDownloadTraced, least.traced),
    memoryMb: below(peak, mostMemoryMb),
  };
  return {
    ok: areHeld(limits),
    ratios,
    limits,
    blocks: last - first + 1,
    transactions,
    parallel,
    memoryMb: peak,
    blocksAndReceipts: shown(plain),
    blocksReceiptsAndTraces: shown(traced),
  };
}
