import { startPeer, startService } from '../start-service.ts';
import { areHeld, atLeast, atMost, type Limits, rounded, type Suite } from '../suite.ts';
import { residentMb, unpinned } from './cores.ts';
import { type DataSet, openWithChain } from './data-set.ts';
import { startLoader } from './loader.ts';
import { balanceQuestions, readQuestions, writeQuestions } from './questions.ts';
import { type Comparison, compare, type Question } from './rounds.ts';
import { expectSameAnswers } from './same-answers.ts';

type Kind = {
  /**
   * How often both servers are asked for the same. `warmUps` are of the first question, when the engine has optimised
   * nothing yet.
   */
  readonly turns: { readonly warmUps: number; readonly rounds: number };
  readonly about: string;
  readonly questions: (data: DataSet) => readonly Question[];
  /** Whether the requests leave rows behind. */
  readonly isWritten: boolean;
  /** The questions of which at least `leastRatio` is required. */
  readonly held: readonly string[];
  readonly leastRatio: number;
  /** Of the rounds of questions with a bound, where nothing else goes on: fastest to slowest. */
  readonly mostSpread: number;
  /** The bounds of the service by itself. */
  readonly paces?: (found: readonly Comparison[]) => Limits;
};

/** What a busy machine does to the rounds of the peer it does to the service's, in other rounds and not by the same. */
const mostToPeer = 1.3;

export const httpSuite = suiteOf({
  about: 'A cached balance over HTTP, against Fastify written by hand with the same features',
  // A few microseconds are asked for: other work on the machine spoils some rounds.
  turns: { warmUps: 3, rounds: 7 },
  questions: balanceQuestions,
  isWritten: false,
  held: ['dispatchToFastify'],
  leastRatio: 0.55,
  // 1.05 to 1.08 were measured.
  mostSpread: 1.25,
});

export const readsSuite = suiteOf({
  about: 'Single rows and lists of a company with 1,000,000 NFTs, against Fastify with raw SQL',
  turns: { warmUps: 3, rounds: 3 },
  questions: readQuestions,
  // The service records which secrets a caller sees.
  isWritten: true,
  held: ['event', 'rwa', 'nft'],
  leastRatio: 0.6,
  mostSpread: 1.4,
});

export const writesSuite = suiteOf({
  about:
    'New events, attendees and NFTs, a hundred at once, against Fastify with raw SQL and the same guarantees',
  turns: { warmUps: 3, rounds: 3 },
  questions: writeQuestions,
  isWritten: true,
  held: ['createEvent', 'addAttendee', 'issue100Nfts'],
  leastRatio: 0.6,
  mostSpread: 1.5,
  paces(found) {
    const paceOf = (wanted: string) => found.find(({ name }) => name === wanted)?.service.perSecond ?? 0;
    return {
      issuedPerSecond: atLeast(rounded(100 * paceOf('issue100Nfts')), 20_000),
      // All at one event, whose row each request locks.
      addedPerSecondHot: atLeast(paceOf('addAttendeeHot'), 1_000),
    };
  },
});

function suiteOf(kind: Kind): Suite {
  const { about, turns, questions, isWritten, held, leastRatio, mostSpread, paces } = kind;
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
      for (const [at, question] of asked.entries()) {
        const { rounds } = turns;
        const warmUps = at === 0 ? turns.warmUps : 1;
        const options = isQuick ? { warmUps, rounds: 3, seconds: 1 } : { warmUps, rounds, seconds: 2 };
        const compared = await compare(loader, { service, peer }, question, options);
        found.push(compared);
        say(`  ${question.name}: ${compared.ratio}; ${noteOf(compared)}`);
      }
      const memoryMb = { service: residentMb(service.pid), peer: residentMb(peer.pid) };
      const spread = spreadOf(found, held);
      const limits = {
        ...Object.fromEntries(held.map((name) => [name, atLeast(ratioOf(found, name), leastRatio)])),
        ...paces?.(found),
        // Rounds of a second, of code that is not optimised yet, are apart anyway.
        ...(isQuick
          ? {}
          : { spread: atMost(spread.service, Math.max(mostSpread, mostToPeer * spread.peer)) }),
      };
      return {
        ok: areHeld(limits),
        ratios: Object.fromEntries(found.map(({ name, ratio }) => [name, ratio])),
        limits,
        beside: { spreadByHand: spread.peer },
        notes: Object.fromEntries(found.map((compared) => [compared.name, noteOf(compared)])),
        remarks: unpinned === undefined ? [] : [unpinned],
        memoryMb,
        requests: found,
      };
    },
  };
}

const ratioOf = (found: readonly Comparison[], wanted: string) =>
  found.find(({ name }) => name === wanted)?.ratio ?? 0;

/** How far the rounds of a question with a bound are apart at worst: their median says nothing of a service that stops now and then. */
function spreadOf(found: readonly Comparison[], held: readonly string[]) {
  const compared = found.filter(({ name }) => held.includes(name));
  const worst = (side: 'service' | 'peer') => Math.max(1, ...compared.map((each) => each[side].spread));
  return { service: worst('service'), peer: rounded(worst('peer')) };
}

/** What stands next to a ratio, of the service and of the peer. */
const noteOf = ({ service, peer }: Comparison) =>
  [
    `${service.perSecond} to ${peer.perSecond} a second`,
    `CPU ${service.cpuUs} to ${peer.cpuUs} µs`,
    `p99 ${service.p99Ms} to ${peer.p99Ms} ms`,
    `spread ${service.spread} to ${peer.spread}`,
  ].join('; ');
