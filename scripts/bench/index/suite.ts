import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { areHeld, atLeast, below } from '../limits.ts';
import { treeMs } from '../process-tree.ts';
import { rounded, type Suite } from '../suite.ts';
import type { BenchChain } from './bench-chain.ts';
import { openBenchChain } from './kept-chain.ts';
import { indexWhole, type Traces, type WholeIndex } from './whole-index.ts';
import { mostReachable, perBlock, type Work, workNote, workTable } from './work.ts';

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
      say(workTable({ 'blocks and receipts': plain.work, 'traces too': traced.work }));
      return figures(chain, plain, traced);
    } finally {
      await chain.close();
    }
  },
};

type Download = {
  readonly milliseconds: number;
  readonly bytes: number;
  readonly blocks: number;
  /** Milliseconds of a core of who downloads, and of the node meanwhile. */
  readonly cpuMs: number;
  readonly nodeMs: number;
};
type Comparison = Omit<WholeIndex, 'copyMs'> & {
  readonly downloadMs: number;
  readonly megabytes: number;
  readonly work: Work;
  readonly mostReachable: number;
};

/** Downloads before and after, so that a machine that grows slower or faster meanwhile does not decide. */
async function compare(chain: BenchChain, traces: Traces, say: Say): Promise<Comparison> {
  say(traces === 'none' ? 'blocks and receipts' : 'blocks, receipts and traces');
  const before = await download(chain, traces, say);
  const { indexed, rows, copyMs } = await indexWhole(chain, { traces, parallel, copies: true, say });
  const after = await download(chain, traces, say);
  const parsed = await runDownload(chain, traces, ['--parse']);
  const mean = (quantity: 'milliseconds' | 'cpuMs' | 'nodeMs') => (before[quantity] + after[quantity]) / 2;
  const { blocks } = before;
  const work = perBlock(
    {
      downloading: { node: mean('nodeMs'), reader: mean('cpuMs') },
      indexing: indexed.cpuMs,
      copy: copyMs,
      parse: (parsed.cpuMs / parsed.blocks) * blocks,
    },
    blocks,
  );
  const downloadMs = mean('milliseconds');
  const reachable = mostReachable(downloadMs / blocks, work);
  const megabytes = Math.round(before.bytes / 1e6);
  return { indexed, rows, downloadMs, megabytes, work, mostReachable: reachable };
}

async function download(chain: BenchChain, traces: Traces, say: Say): Promise<Download> {
  const done = await runDownload(chain, traces, []);
  say(`  downloaded ${Math.round(done.bytes / 1e6)} MB in ${rounded(done.milliseconds / 1_000)} s`);
  return done;
}

async function runDownload(
  { rpcUrl, pid, first, last }: BenchChain,
  traces: Traces,
  more: readonly string[],
): Promise<Download> {
  const range = ['--first', String(first), '--last', String(last), '--parallel', String(parallel)];
  const program = [`${import.meta.dirname}/download.ts`, '--url', rpcUrl, ...range, ...more];
  const flags = traces === 'trace' ? ['--traces'] : [];
  const before = treeMs(pid);
  const { stdout } = await promisify(execFile)(process.execPath, [...program, ...flags], {
    timeout: 600_000,
  });
  const done: Omit<Download, 'nodeMs'> = JSON.parse(stdout);
  return { ...done, nodeMs: treeMs(pid) - before };
}

function figures(chain: BenchChain, plain: Comparison, traced: Comparison) {
  const { transactions, first, last } = chain;
  const ratios = {
    indexedToDownload: rounded(plain.downloadMs / plain.indexed.milliseconds),
    indexedToDownloadTraced: rounded(traced.downloadMs / traced.indexed.milliseconds),
  };
  const peak = Math.max(plain.indexed.memoryMb.peak, traced.indexed.memoryMb.peak);
  const shown = ({ downloadMs, indexed, rows, megabytes, work }: Comparison) => ({
    indexedPerSecond: rounded((transactions * 1_000) / indexed.milliseconds),
    downloadedPerSecond: rounded((transactions * 1_000) / downloadMs),
    megabytes,
    historyRows: rows,
    memoryMb: indexed.memoryMb,
    cpuMsPerBlock: work,
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
    beside: { mostReachable: plain.mostReachable, mostReachableTraced: traced.mostReachable },
    notes: notesOf(plain, traced),
    blocks: last - first + 1,
    transactions,
    parallel,
    memoryMb: peak,
    blocksAndReceipts: shown(plain),
    blocksReceiptsAndTraces: shown(traced),
  };
}

const notesOf = (plain: Comparison, traced: Comparison) => ({
  mostReachable: workNote(plain.work),
  mostReachableTraced: workNote(traced.work),
});
