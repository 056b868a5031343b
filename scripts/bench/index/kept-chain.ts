import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startChain } from '../../../test/support/chain.ts';
import { type BenchChain, type FilledChain, fillBenchChain } from './bench-chain.ts';

type OpenOptions = { readonly blocks: number; readonly say: (line: string) => void };

// To be raised when other blocks are made.
const version = 1;
const folder = path.resolve(import.meta.dirname, '../../../.local/bench');

const flags = [
  '--no-mining',
  '--accounts',
  '101',
  '--order',
  'fifo',
  // State of old blocks is never asked for, and a copy of it after each block would fill the memory.
  '--prune-history',
  '64',
  '--transaction-block-keeper',
  '100000',
];

/** Starts a local chain with blocks of mixed transactions, which are made at the first run and kept. */
export async function openBenchChain({ blocks, say }: OpenOptions): Promise<BenchChain> {
  const own = path.join(folder, `chain-${blocks}-${version}`);
  const state = path.join(own, 'state.json');
  const note = path.join(own, 'chain.json');
  if (!existsSync(note)) {
    say(`making a chain of ${blocks} blocks, once; it stays in ${folder}`);
    mkdirSync(own, { recursive: true });
    const filled = await makeState(state, { blocks, say });
    writeFileSync(`${note}.new`, JSON.stringify(filled));
    renameSync(`${note}.new`, note);
  }
  const filled: FilledChain = JSON.parse(readFileSync(note, 'utf8')); // as written above
  const chain = await startChain({ flags: [...flags, '--load-state', state], startMs: 120_000 });
  return { ...chain, ...filled };
}

/** The node writes its state as it ends. */
async function makeState(state: string, { blocks, say }: OpenOptions): Promise<FilledChain> {
  const chain = await startChain({ flags: [...flags, '--dump-state', state] });
  try {
    return await fillBenchChain(chain.rpcUrl, { blocks, say });
  } finally {
    await chain.close();
  }
}
