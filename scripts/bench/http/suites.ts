import { areHeld, atLeast, type Limits } from '../limits.ts';
import { type Figures, rounded, type Suite } from '../suite.ts';
import { residentMb, unpinned } from './cores.ts';
import { type DataSet, openWithChain } from './data-set.ts';
import { startLoader } from './loader.ts';
import { balanceQuestions, readQuestions, writeQuestions } from './questions.ts';
import { type Comparison, compare, type Question } from './rounds.ts';
import { expectSameAnswers } from './same-answers.ts';
import { spreadOf } from './spread.ts';
import { startPeer, startService } from './subject.ts';
import { notesOf, tableOf } from './tables.ts';

type Kind = {
  /** How often both are asked for the same; the first question is met by code that the engine has not optimised yet. */
  readonly turns: { readonly warmUps: number; readonly rounds: number };
  readonly about: string;
  readonly questions: (data: DataSet) => readonly Question[];
  /** Whether the requests leave rows behind. */
  readonly isWritten: boolean;
  /** The least ratio of each, by name; 0 where it is only told. */
  readonly least: Readonly<Record<string, number>>;
  /** Of the rounds of those that are held, where nothing else goes on: fastest to slowest. */
  readonly mostSpread: number;
  readonly ratios: (found: readonly Comparison[]) => Readonly<Record<string, number>>;
  /** What is held of the service by itself. */
  readonly paces?: (found: readonly Comparison[]) => Pick<Figures, 'limits' | 'beside'>;
};

const byName = (found: readonly Comparison[]) =>
  Object.fromEntries(found.map(({ name, ratio }) => [name, ratio]));
const withWorst = (found: readonly Comparison[]) => ({
  ...byName(found),
  worst: Math.min(...found.map(({ ratio }) => ratio)),
});

export const httpSuite = suiteOf({
  about: 'A cached balance over HTTP, against Fastify written by hand with the same features',
  // A few microseconds are asked for: other work on the machine spoils some rounds.
  turns: { warmUps: 4, rounds: 7 },
  questions: balanceQuestions,
  isWritten: false,
  least: { dispatchToFastify: 0.6 },
  // 1.05 to 1.08 were measured.
  mostSpread: 1.25,
  ratios: byName,
});

export const readsSuite = suiteOf({
  about: 'Single rows and lists of a company with 1,000,000 NFTs, against Fastify with raw SQL',
  turns: { warmUps: 1, rounds: 3 },
  questions: readQuestions,
  // What is seen of secrets is recorded.
  isWritten: true,
  least: { event: 0.6, rwa: 0.6, nft: 0.6 },
  // Up to 1.18 of the first question, which meets code that is not optimised yet.
  mostSpread: 1.4,
  ratios: withWorst,
});

export const writesSuite = suiteOf({
  about:
    'New events, attendees and NFTs, a hundred at once, against Fastify with raw SQL and the same guarantees',
  turns: { warmUps: 1, rounds: 3 },
  questions: writeQuestions,
  isWritten: true,
  least: { createEvent: 0.6, addAttendee: 0.6, issue100Nfts: 0.6 },
  // 1.33 of the first question in two runs, and up to 1.2 of the peer.
  mostSpread: 1.5,
  ratios: withWorst,
  paces: (found) => {
    const [issue, hot] = ['issue100Nfts', 'addAttendeeHot'].map((wanted) =>
      found.find(({ name }) => name === wanted),
    );
    return {
      limits: {
        issuedPerSecond: atLeast(rounded(100 * (issue?.service.perSecond ?? 0)), 20_000),
        // All at one event, whose row each of them locks.
        addedPerSecondHot: atLeast(hot?.service.perSecond ?? 0, 1_000),
      },
      beside: {
        issuedPerSecondByHand: rounded(100 * (issue?.peer.perSecond ?? 0)),
        addedPerSecondHotByHand: hot?.peer.perSecond ?? 0,
      },
    };
  },
});

function suiteOf({ about, turns, questions, isWritten, least, mostSpread, ratios, paces }: Kind): Suite {
  return {
    about,
    async run({ isQuick, say }) {
      await using opened = new AsyncDisposableStack();
      const data = await openWithChain(opened, { isQuick, isWritten, say });
      const env = { DATABASE_URL: data.url };
      const service = opened.adopt(await startService(env), (running) => running.stop());
      const peer = opened.adopt(await startPeer(env), (running) => running.stop());
      const loader = opened.adopt(startLoader(), (running) => running.close());
      const asked = questions(data);
      await expectSameAnswers({ service, peer }, asked);
      const found: Comparison[] = [];
      for (const question of asked) {
        const options = isQuick ? { warmUps: 1, rounds: 3, seconds: 1 } : { ...turns, seconds: 2 };
        found.push(await compare(loader, { service, peer }, question, options));
        say(`  ${question.name}: ${found.at(-1)?.ratio}`);
      }
      say(tableOf(found, unpinned));
      const memoryMb = { service: residentMb(service.pid), peer: residentMb(peer.pid) };
      const values = ratios(found);
      const own = paces?.(found);
      // Rounds of a second, of code that is not optimised yet, are apart anyway.
      const spread = spreadOf(found, Object.keys(least), mostSpread);
      const limits = { ...limitsOf(values, least), ...own?.limits, ...(isQuick ? {} : spread.limits) };
      return {
        ok: areHeld(limits),
        ...{
          ratios: values,
          limits,
          beside: { ...own?.beside, ...spread.beside },
          notes: notesOf(found),
          remarks: unpinned === undefined ? [] : [unpinned],
          nfts: data.nfts,
          events: data.events,
          memoryMb,
          requests: found,
        },
      };
    },
  };
}

const limitsOf = (values: Readonly<Record<string, number>>, least: Kind['least']): Limits =>
  Object.fromEntries(Object.entries(least).map(([name, limit]) => [name, atLeast(values[name] ?? 0, limit)]));
