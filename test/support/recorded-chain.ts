import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { knownWrappedNatives } from '../../src/chain/rpc/client/network.ts';
import { creditRulesOf } from '../../src/providers/indexer/decode/credit-rules.ts';
import { type BlockSource, decodeSteps } from '../../src/providers/indexer/decode/decode-block.ts';
import type { IndexedBlock } from '../../src/providers/indexer/decode/domain.ts';
import { readBlock, readReceipt } from '../../src/providers/indexer/decode/raw-block.ts';
import { readCallTraces } from '../../src/providers/indexer/decode/traces.ts';
import { atOnce } from '../../src/providers/indexer/decode/turns.ts';

/** A recorded block in the form of a node's answers; see test/fixtures/chain/README.md. */
export type RecordedBlock = {
  readonly chainId: number;
  readonly block: {
    readonly number: string;
    readonly hash: string;
    readonly parentHash: string;
    readonly miner: string;
    readonly transactions: readonly RecordedTransaction[];
  };
  readonly receipts: readonly RecordedReceipt[];
  readonly traces: readonly unknown[] | null;
};

type RecordedTransaction = {
  readonly hash: string;
  readonly from: string;
  readonly to: string | null;
  readonly input: string;
};

type RecordedReceipt = {
  readonly transactionHash: string;
  readonly logs: readonly { readonly logIndex: string; readonly topics: readonly string[] }[];
};

const directory = fileURLToPath(new URL('../fixtures/chain/', import.meta.url));

/** Reads the JSON of a fixture, for example `ethereum/17000000.transfers`. The caller knows its type. */
export function readFixture<T>(name: string): T {
  return JSON.parse(brotliDecompressSync(readFileSync(`${directory}${name}.json.br`)).toString());
}

/** Lists the fixtures that match a pattern, without extension, for example `ethereum/*.native`. */
export function fixturesLike(pattern: string): string[] {
  const names = globSync(`${pattern}.json.br`, { cwd: directory });
  return names.map((name) => name.slice(0, -'.json.br'.length)).sort();
}

/** The names of all complete blocks, for example `ethereum/17000000`. */
export const recordedBlocks = fixturesLike('*/*').filter((name) => /\/\d+$/.test(name));

/** Decodes a block at once, by the rules of a network that nobody knows unless others are given. */
export const decodeBlock = (
  source: BlockSource,
  wrapped: ReadonlySet<string> = new Set(),
  rules = creditRulesOf(''),
): IndexedBlock => atOnce(decodeSteps(source, wrapped, rules));

/** Decodes a recorded block as the index does. */
export function decodeRecorded(name: string, { traced = true } = {}): IndexedBlock {
  const recorded = readFixture<RecordedBlock>(name);
  const wrapped = knownWrappedNatives[String(recorded.chainId)]?.toLowerCase();
  const receipted = new Set(recorded.receipts.map(({ transactionHash }) => transactionHash));
  const missing = recorded.block.transactions.map(({ hash }) => hash).filter((hash) => !receipted.has(hash));
  const block = readBlock(recorded.block);
  return decodeBlock(
    {
      block,
      receipts: recorded.receipts.map(readReceipt),
      traces:
        recorded.traces === null || !traced
          ? undefined
          : readCallTraces(recorded.traces, block.transactions).traces,
      // Only Ethermint lists such transactions.
      withoutReceipt: new Set(name.startsWith('cronos/') ? missing : []),
    },
    new Set(wrapped === undefined ? [] : [wrapped]),
  );
}
