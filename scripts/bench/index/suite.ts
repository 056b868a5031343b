import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { areHeld, atLeast, below } from '../limits.ts';
import { rounded, type Suite } from '../suite.ts';
import type { BenchChain } from './bench-chain.ts';
import { openBenchChain } from './kept-chain.ts';
import { indexWhole, type Traces, type WholeIndex } from './whole-index.ts';

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
      return figures(chain, await compare(chain, 'none', say), await compare(chain, 'trace', say));
    } finally {
      await chain.close();
    }
  },
};

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
  const options = { timeout: 600_000 };
  const { stdout } = await promisify(execFile)(process.execPath, [...program, ...flags], options);
  const done: Download = JSON.parse(stdout);
  say(`  downloaded ${Math.round(done.bytes / 1e6)} MB in ${rounded(done.milliseconds / 1_000)} s`);
  return done;
}

function figures({ transactions, first, last }: BenchChain, plain: Comparison, traced: Comparison) {
  const ratios = {
    indexedToDownload: rounded(plain.downloadMs / plain.milliseconds),
    indexedToDownloadTraced: rounded(traced.downloadMs / traced.milliseconds),
  };
  const limits = {
    indexedToDownload: atLeast(ratios.indexedToDownload, least.plain),
    indexedToDownloadTraced: atLeast(ratios.indexedToDownloadTraced, least.traced),
    memoryMb: below(Math.max(plain.peakMb, traced.peakMb), mostMemoryMb),
  };
  const blocks = last - first + 1;
  const runs = { blocksAndReceipts: plain, blocksReceiptsAndTraces: traced };
  return { ok: areHeld(limits), ratios, limits, blocks, transactions, parallel, ...runs };
}
