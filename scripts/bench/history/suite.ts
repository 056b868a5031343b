import type { Database } from '../../../src/contract/transaction.ts';
import { quantile } from '../../load/answers.ts';
import { openKept } from '../http/data-set.ts';
import { areHeld, atMost, below, rounded, type Suite } from '../suite.ts';
import { fillHistory } from './fill.ts';
import { type Ask, type AskSearch, askOverHttp, pageSize, searches } from './pages.ts';

const bounds = { p50Ms: 10, p99Ms: 30, deepToFirst: 1.2 };
// To be raised when `fill.ts` makes other rows.
const version = 1;
type Say = (line: string) => void;

export const historySuite: Suite = {
  about: 'Pages of 100 records from an index of 5 million rows, down to page 10,000 of one wallet',
  async run({ isQuick, say }) {
    // A fifth is of the busy wallet, with rows below its page 10,000.
    const rows = isQuick ? 505_000 : 5_005_000;
    const data = await openKept(
      {
        name: isQuick ? 'history-quick' : 'history',
        content: [version, rows],
        about: `${rows} rows`,
        fill: (db) => fillHistory({ db, rows, say }),
        isWritten: true,
      },
      say,
    );
    try {
      return await measureAll({ db: data.db, databaseUrl: data.url, rows, isQuick, say });
    } finally {
      await data.close();
    }
  },
};

type MeasureOptions = {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly rows: number;
  readonly isQuick: boolean;
  readonly say: Say;
};

async function measureAll({ db, databaseUrl, rows, isQuick, say }: MeasureOptions) {
  const deepest = isQuick ? 1_000 : 10_000;
  const rounds = isQuick ? 100 : 500;
  const overHttp = await askOverHttp({ db, databaseUrl, rows });
  try {
    const http = await measurePages(overHttp.ask, rounds, deepest);
    say(`  over HTTP: ${JSON.stringify(http)}`);
    const search = await measureSearches(overHttp.askSearch, rounds, deepest);
    say(`  searches: ${JSON.stringify(search)}`);
    const { deepToFirst, p50Ms, p99Ms } = http;
    const limits = {
      deepToFirst: atMost(deepToFirst, bounds.deepToFirst),
      p50Ms: below(p50Ms, bounds.p50Ms),
      p99Ms: below(p99Ms, bounds.p99Ms),
      searchFirstP99Ms: below(search.firstP99Ms, bounds.p99Ms),
      searchDeepP99Ms: below(search.deepP99Ms, bounds.p99Ms),
    };
    return {
      ok: areHeld(limits),
      ratios: { deepToFirst },
      limits,
      rows,
      walletRows: rows / 5,
      recordsInPage: pageSize,
      deepestPage: deepest,
      pages: rounds * 3,
      http,
      search,
    };
  } finally {
    await overHttp.close();
  }
}

/** One request at a time: by turns the first page, the deepest, and one of any depth. */
async function measurePages(ask: Ask, rounds: number, deepest: number) {
  const times: Record<'first' | 'deep' | 'any', number[]> = { first: [], deep: [], any: [] };
  const warmUp = 50;
  for (let round = -warmUp; round < rounds; round += 1) {
    const any = 2 + ((Math.abs(round) * 7_919) % (deepest - 2));
    const turns = [
      ['first', 1],
      ['deep', deepest],
      ['any', any],
    ] as const;
    // The first caller would pay for the work of the others.
    for (const [kind, page] of round % 2 === 0 ? turns : turns.toReversed()) {
      const started = performance.now();
      await ask(page);
      if (round >= 0) times[kind].push(performance.now() - started);
    }
  }
  const all = Object.values(times).flat();
  return {
    p50Ms: rounded(quantile(all, 0.5)),
    p99Ms: rounded(quantile(all, 0.99)),
    firstP50Ms: rounded(quantile(times.first, 0.5)),
    deepP50Ms: rounded(quantile(times.deep, 0.5)),
    deepToFirst: rounded(quantile(times.deep, 0.5) / quantile(times.first, 0.5)),
  };
}

/** Searches that one in a thousand rows fits, from the first page and from the deepest, by turns. */
async function measureSearches(ask: AskSearch, rounds: number, deepest: number) {
  const times: Record<'first' | 'deep', number[]> = { first: [], deep: [] };
  const warmUp = 20;
  for (let round = -warmUp; round < rounds; round += 1) {
    const search = searches[Math.abs(round) % searches.length] ?? {};
    for (const [kind, page] of [['first', 1] as const, ['deep', deepest] as const]) {
      const started = performance.now();
      await ask(page, search);
      if (round >= 0) times[kind].push(performance.now() - started);
    }
  }
  return {
    firstP50Ms: rounded(quantile(times.first, 0.5)),
    firstP99Ms: rounded(quantile(times.first, 0.99)),
    deepP50Ms: rounded(quantile(times.deep, 0.5)),
    deepP99Ms: rounded(quantile(times.deep, 0.99)),
  };
}
