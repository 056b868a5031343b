import { setTimeout as wait } from 'node:timers/promises';
import { insertNetwork } from '../../../src/chain/network-store.ts';
import { basePaths } from '../../../src/contract/documents.ts';
import { issueKey } from '../../../src/keys/key-store.ts';
import { startChain } from '../../../test/support/chain.ts';
import { testNetwork } from '../../../test/support/networks.ts';
import { quantile } from '../../load/answers.ts';
import { openDurableDatabase } from '../durable-database.ts';
import { startUnpinned } from '../start-service.ts';
import { rounded } from '../suite.ts';
import { prepareChain } from './bench-chain.ts';
import type { Traces } from './whole-index.ts';

type FreshnessOptions = {
  readonly traces: Traces;
  readonly blocks: number;
  readonly say: (line: string) => void;
};

/** Times from the moment when the node had a block until a response had its rows. */
export type Freshness = {
  readonly blocks: number;
  readonly transactionsInBlock: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
};

const blockMs = 1_000;
const mixesInBlock = 4;
const warmUp = 5;
const longestMs = 30_000;
// Each poll takes time of the cores that are measured.
const lookMs = 20;

/** Makes a block a second, with 200 transactions, and polls the history of a wallet that has one in every block. */
export async function measureFreshness({ traces, blocks, say }: FreshnessOptions): Promise<Freshness> {
  await using opened = new AsyncDisposableStack();
  const flags = ['--no-mining', '--accounts', '101', '--order', 'fifo', '--prune-history', '64'];
  const chain = opened.adopt(await startChain({ flags }), (started) => started.close());
  const { owner, contracts, mix, queue, mine, newest } = await prepareChain(chain.rpcUrl);
  const { db, url: databaseUrl } = opened.adopt(await openDurableDatabase(), (made) => made.close());
  const wrappedNatives = [contracts.Wrapped];
  const network = testNetwork([chain.rpcUrl], { indexFrom: '0', indexTraces: traces, wrappedNatives });
  await insertNetwork(db, network);
  const { key } = await issueKey(db, 'live', { companyId: null, label: 'bench' });
  const settings = { ROLES: 'api,indexer', DATABASE_URL: databaseUrl, RATE_LIMIT_PER_SECOND: '0' };
  const service = opened.adopt(await startUnpinned(settings), (process) => process.stop());
  const query = new URLSearchParams({ address: owner, chainId: network.chainId, limit: '1' });
  const url = `http://127.0.0.1:${service.port}${basePaths.blockchain}/wallet/history?${query}`;
  /** The newest block with a row in the response; 0 before the first. */
  const shown = async (): Promise<number> => {
    const answer = await fetch(url, { headers: { 'x-api-key': key } });
    if (answer.status === 503) return 0;
    const { history } = (await answer.json()) as { history: { result: { block_number: string }[] } }; // the contract
    return Number(history.result[0]?.block_number ?? 0);
  };

  const made = new Map<number, number>();
  const times: number[] = [];
  let last = await newest();
  await untilShown(shown, last);
  const end = last + warmUp + blocks;
  const make = async () => {
    for (let turn = 0; last < end; turn += 1) {
      const due = performance.now() + blockMs;
      for (let part = 0; part < mixesInBlock; part += 1) await queue(mix.block(turn * mixesInBlock + part));
      await wait(Math.max(0, due - performance.now()));
      await mine();
      last += 1;
      made.set(last, performance.now());
    }
  };
  const look = async () => {
    for (let seen = last, next = last + 1; seen < end; await wait(lookMs)) {
      seen = await shown();
      const now = performance.now();
      for (; next <= seen; next += 1) {
        const at = made.get(next);
        // It was shown before the node had answered that it was made.
        times.push(at === undefined ? 0 : now - at);
      }
      const waiting = made.get(next);
      if (waiting !== undefined && now - waiting > longestMs) throw new Error(`block ${next} is not shown`);
    }
  };
  await Promise.all([make(), look()]);
  const measured = times.slice(warmUp);
  const figures = {
    blocks: measured.length,
    transactionsInBlock: mixesInBlock * mix.block(0).length,
    p50Ms: rounded(quantile(measured, 0.5)),
    p99Ms: rounded(quantile(measured, 0.99)),
    mostMs: rounded(Math.max(...measured)),
  };
  say(`  fresh after ${figures.p50Ms} ms (p50), ${figures.p99Ms} ms (p99)`);
  return figures;
}

async function untilShown(shown: () => Promise<number>, block: number): Promise<void> {
  const deadline = performance.now() + longestMs;
  while ((await shown()) < block) {
    if (performance.now() > deadline) throw new Error(`the index does not come to block ${block}`);
    await wait(lookMs);
  }
}
