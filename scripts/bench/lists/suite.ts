import Table from 'cli-table3';
import { openKept } from '../http/data-set.ts';
import { areHeld, atMost, type Limits } from '../limits.ts';
import { rounded, type Suite } from '../suite.ts';
import { type FilledCompany, fillCompanies, type Holdings } from './fill.ts';
import { withPending } from './pending.ts';
import { type ListQuestion, listQuestions, pendingQuestions } from './questions.ts';

const whole = {
  small: { rwas: 50, nftsOfOne: 5_000, bareRwas: 0, events: 1_000 },
  large: { rwas: 50_000, nftsOfOne: 5_000_000, bareRwas: 1_000_000, events: 1_000_000 },
} satisfies Record<string, Holdings>;
const quick = {
  small: { rwas: 5, nftsOfOne: 500, bareRwas: 0, events: 100 },
  large: { rwas: 500, nftsOfOne: 50_000, bareRwas: 10_000, events: 10_000 },
} satisfies Record<string, Holdings>;

type Companies = { readonly small: FilledCompany; readonly large: FilledCompany };
// To be raised when `fill.ts` makes other rows, or folding other counters.
const version = 3;
const most = { firstToSmall: 1.5, deepToFirst: 3 };
const deepest = 900_000;
const pageSize = 50;

export const listsSuite: Suite = {
  about: 'Pages and totals of a company with 10,000,000 NFTs against one with 10,000, at offset 900,000 too',
  async run({ isQuick, say }) {
    const companies = isQuick ? quick : whole;
    const recipe = {
      ...{ name: isQuick ? 'lists-quick' : 'lists', content: [version, companies] },
      about: isQuick
        ? 'two companies, small ones'
        : 'two companies, one with 10,000,000 NFTs (ten minutes, 9 GB)',
    };
    await using opened = new AsyncDisposableStack();
    const data = opened.adopt(
      await openKept({ ...recipe, fill: (db) => fillCompanies(db, companies, say) }, say),
      (set) => set.close(),
    );
    const found: Measured[] = [];
    const nftsOf = (company: FilledCompany) =>
      companies[company === data.small ? 'small' : 'large'].nftsOfOne;
    for (const question of listQuestions(data.db, nftsOf))
      found.push(await measure(question, data, isQuick ? 20 : 60));
    await withPending(data.db, data.large.companyId, async () => {
      for (const question of pendingQuestions(data.db)) found.push(await measure(question, data, 10));
    });
    say(tableOf(found));
    const ratios = {
      firstToSmall: Math.max(...found.filter(({ held }) => held.first).map((one) => one.firstToSmall)),
      deepToFirst: Math.max(...found.filter(({ held }) => held.deep).map((one) => one.deepToFirst)),
    };
    // Where all is small, what is behind an offset is sorted sooner than looked up.
    const limits: Limits = isQuick
      ? {}
      : {
          firstToSmall: atMost(ratios.firstToSmall, most.firstToSmall),
          deepToFirst: atMost(ratios.deepToFirst, most.deepToFirst),
        };
    return { ok: areHeld(limits), ratios, limits, lists: found };
  },
};

type Measured = ListFigures & Pick<ListQuestion, 'name' | 'held'>;
type ListFigures = {
  readonly total: number;
  readonly offset: number;
  readonly smallMs: number;
  readonly firstMs: number;
  readonly deepMs: number;
  readonly firstToSmall: number;
  readonly deepToFirst: number;
};

/** Asks for page and total by turns, so that other work on the machine meets all alike. The median of each. */
async function measure(
  question: ListQuestion,
  { small, large }: Companies,
  rounds: number,
): Promise<Measured> {
  const total = await question.total(large);
  const offset = Math.min(deepest, Math.floor(total * (question.share ?? 0.9)));
  const ask = async (company: FilledCompany, skipped: number) => {
    const begun = performance.now();
    const [, page] = await Promise.all([
      question.total(company),
      question.page(company, { limit: pageSize, offset: skipped }),
    ]);
    if (company === large && page.length !== Math.min(pageSize, total - skipped))
      throw new Error(`${question.name} has no page at ${skipped}`);
    return performance.now() - begun;
  };
  const times: Record<'small' | 'first' | 'deep', number[]> = { small: [], first: [], deep: [] };
  const warmUp = 10;
  const isSlow = (await ask(large, offset)) > 1_000;
  for (let round = isSlow ? 0 : -warmUp; round < (isSlow ? 5 : rounds); round += 1) {
    const taken = { small: await ask(small, 0), first: await ask(large, 0), deep: await ask(large, offset) };
    if (round < 0) continue;
    for (const name of ['small', 'first', 'deep'] as const) times[name].push(taken[name]);
  }
  const [smallMs, firstMs, deepMs] = [median(times.small), median(times.first), median(times.deep)];
  return {
    ...{ name: question.name, held: question.held, total, offset },
    ...{ smallMs: rounded(smallMs), firstMs: rounded(firstMs), deepMs: rounded(deepMs) },
    ...{ firstToSmall: rounded(firstMs / smallMs), deepToFirst: rounded(deepMs / firstMs) },
  };
}

const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

function tableOf(found: readonly Measured[]): string {
  const table = new Table({
    head: ['List', 'Rows', 'Small ms', 'Large ms', 'Ratio', 'At offset', 'ms', 'To first', 'Held'],
    style: { head: [], border: [] },
  });
  for (const one of found) {
    table.push([
      ...[one.name, one.total, one.smallMs, one.firstMs, one.firstToSmall],
      ...[
        one.offset,
        one.deepMs,
        one.deepToFirst,
        one.held.deep ? 'yes' : one.held.first ? 'but the offset' : 'told',
      ],
    ]);
  }
  return table.toString();
}
