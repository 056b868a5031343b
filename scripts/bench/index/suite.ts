import { runProgram } from '../../run-program.ts';
import { areHeld, atLeast, below, rounded, type Suite } from '../suite.ts';
import type { BenchChain } from './bench-chain.ts';
import { type Freshness, measureFreshness } from './freshness.ts';
import { openBenchChain } from './kept-chain.ts';
import { indexWhole, type Traces, type WholeIndex } from './whole-index.ts';

/** INDEX_PARALLEL when nobody sets it. */
const parallel = 8;
const least = { plain: 0.8, traced: 0.7 };
const mostMemoryMb = 400;
// A hosted peer promises 4 s and 8 s.
const fresh = { p50Ms: 1_000, p99Ms: 3_000 };

type Say = (line: string) => void;

export const indexSuite: Suite = {
  about:
    'Indexing a local chain of 2,000 blocks with 50 mixed transactions each, against downloading it; and how long a new block takes to a response',
  async run({ isQuick, say }) {
    const compared = await compareWhole(isQuick ? 200 : 2_000, say);
    say('a block a second');
    const blocks = isQuick ? 10 : 40;
    const freshness = {
      plain: await measureFreshness({ traces: 'none', blocks, say }),
      traced: await measureFreshness({ traces: 'trace', blocks, say }),
    };
    return figures({ ...compared, freshness });
  },
};

/** Indexes a whole chain, without and with traces. */
async function compareWhole(blocks: number, say: Say) {
  const chain = await openBenchChain({ blocks, say });
  try {
    return { chain, plain: await compare(chain, 'none', say), traced: await compare(chain, 'trace', say) };
  } finally {
    await chain.close();
  }
}

type Download = { readonly milliseconds: number; readonly bytes: number };
type Comparison = WholeIndex & { readonly downloadMs: number; readonly megabytes: number };

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
  const written = await runProgram(process.execPath, [...program, ...flags], { timeoutMs: 600_000 });
  const done: Download = JSON.parse(written);
  say(`  downloaded ${Math.round(done.bytes / 1e6)} MB in ${rounded(done.milliseconds / 1_000)} s`);
  return done;
}

type Measured = {
  readonly chain: BenchChain;
  readonly plain: Comparison;
  readonly traced: Comparison;
  readonly freshness: { readonly plain: Freshness; readonly traced: Freshness };
};

function figures({ chain, plain, traced, freshness }: Measured) {
  const { transactions, first, last } = chain;
  const ratios = {
    indexedToDownload: rounded(plain.downloadMs / plain.milliseconds),
    indexedToDownloadTraced: rounded(traced.downloadMs / traced.milliseconds),
  };
  const limits = {
    indexedToDownload: atLeast(ratios.indexedToDownload, least.plain),
    indexedToDownloadTraced: atLeast(ratios.indexedToDownloadTraced, least.traced),
    memoryMb: below(Math.max(plain.peakMb, traced.peakMb), mostMemoryMb),
    freshP50Ms: below(freshness.plain.p50Ms, fresh.p50Ms),
    freshP99Ms: below(freshness.plain.p99Ms, fresh.p99Ms),
    freshTracedP50Ms: below(freshness.traced.p50Ms, fresh.p50Ms),
    freshTracedP99Ms: below(freshness.traced.p99Ms, fresh.p99Ms),
  };
  const blocks = last - first + 1;
  const runs = { blocksAndReceipts: plain, blocksReceiptsAndTraces: traced };
  return { ok: areHeld(limits), ratios, limits, blocks, transactions, parallel, ...runs, freshness };
}
