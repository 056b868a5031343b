import Table from 'cli-table3';
import { createChainRpc } from '../../../src/local/programs/chain-rpc.ts';
import type { BenchChain } from '../index/bench-chain.ts';
import { openBenchChain } from '../index/kept-chain.ts';
import { indexWhole, type WholeIndex } from '../index/whole-index.ts';
import { areHeld, atLeast } from '../limits.ts';
import { rounded, type Suite } from '../suite.ts';
import { installPonder } from './install.ts';
import { type Pace, type PonderRun, runPonder } from './run-ponder.ts';
import { countTransfers } from './transfers.ts';

/** INDEX_PARALLEL when nobody sets it. */
const parallel = 8;
const least = 3;

type Say = (line: string) => void;
type Runs = {
  readonly own: WholeIndex;
  readonly ponder: PonderRun;
  readonly unpaced: PonderRun;
};

export const indexPeersSuite: Suite = {
  about: 'Blocks a second of the index, which has everything, against Ponder with token transfers alone',
  prepare: installPonder,
  async run({ isQuick, say }) {
    const chain = await openBenchChain({ blocks: isQuick ? 200 : 1_000, say });
    try {
      // Ponder takes the newest 30 blocks one by one as they come: the mix has to be older.
      await createChainRpc(chain.rpcUrl).call('anvil_mine', '0x40');
      // Ours between, so that a machine that grows slower or faster meanwhile favours nobody.
      const unpaced = await measurePonder(chain, 'none', say);
      say('our index');
      const own = await indexWhole(chain, { traces: 'none', parallel, say });
      const ponder = await measurePonder(chain, 'own', say);
      return figures(chain, { own, ponder, unpaced }, say);
    } finally {
      await chain.close();
    }
  },
};

/** @throws Error when a transfer is missing: a fast index that is not whole is none */
async function measurePonder(chain: BenchChain, pace: Pace, say: Say): Promise<PonderRun> {
  say(pace === 'own' ? 'Ponder' : 'Ponder without its own pace');
  const ponder = await runPonder(chain, { pace, say });
  say(`  indexed in ${rounded(ponder.milliseconds / 1_000)} s, at most ${ponder.peakMb} MB`);
  const transfers = await countTransfers(chain);
  if (ponder.rows !== transfers) throw new Error(`Ponder has ${ponder.rows} of ${transfers} transfers`);
  return ponder;
}

type Shown = { readonly blocksPerSecond: number; readonly rows: number; readonly peakMb: number };

function figures(chain: BenchChain, { own, ponder, unpaced }: Runs, say: Say) {
  const blocks = chain.last - chain.first + 1;
  const { rows, indexed } = own;
  const { milliseconds } = indexed;
  const perSecond = (taken: number) => rounded((blocks * 1_000) / taken);
  const shownOf = (run: PonderRun): Shown => ({
    blocksPerSecond: perSecond(run.milliseconds),
    rows: run.rows,
    peakMb: run.peakMb,
  });
  const shown = {
    tallystick: { blocksPerSecond: perSecond(milliseconds), rows, peakMb: indexed.memoryMb.peak },
    ponder: shownOf(ponder),
    ponderUnpaced: shownOf(unpaced),
  };
  const ratios = {
    indexedToPonder: rounded(ponder.milliseconds / milliseconds),
    indexedToPonderUnpaced: rounded(unpaced.milliseconds / milliseconds),
  };
  const limits = { indexedToPonder: atLeast(ratios.indexedToPonder, least) };
  say(tableOf(shown));
  return {
    ok: areHeld(limits),
    ratios,
    limits,
    blocks,
    transactions: chain.transactions,
    parallel,
    ...shown,
  };
}

function tableOf(shown: Readonly<Record<'tallystick' | 'ponder' | 'ponderUnpaced', Shown>>): string {
  const head = ['Index', 'What it has', 'Blocks a second', 'Rows', 'Peak MB'];
  const table = new Table({ head, style: { head: [], border: [] } });
  const row = (name: string, has: string, { blocksPerSecond, rows, peakMb }: Shown) =>
    table.push([name, has, blocksPerSecond, rows, peakMb]);
  row('tallystick', 'histories, NFTs, tokens, approvals of wallets', shown.tallystick);
  row('Ponder', 'token transfers', shown.ponder);
  row('Ponder without its own pace', 'token transfers', shown.ponderUnpaced);
  return table.toString();
}
