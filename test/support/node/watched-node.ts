import type { Flaw, Pass, Reply } from './flaw.ts';
import { resultOf } from './flaw.ts';
import { type Lie, lies } from './lies.ts';
import { type MarketRecord, recordMarket } from './market-record.ts';
import { askNode, startNode, type TestNode } from './node.ts';
import { countQuestions, type Questions } from './questions.ts';

/** A node in front of a real one whose conduct minting is judged by. */
export type WatchedNode = Omit<TestNode, 'setFlaws'> & {
  /** Starts a lie, or another flaw for a time, that ends the one before; undefined ends it. */
  lie(lie: Lie | Flaw | undefined): void;
  /** Gives it these flaws for good, in place of those that it had; a lie is nearer to the caller. */
  setFlaws(...flaws: readonly Flaw[]): void;
  readonly questions: Questions;
  /** What it has said of prices. */
  readonly market: MarketRecord;
  /** The number of answers that the current lie has changed. */
  readonly told: () => number;
  /** All signed transactions that it has received, whether it forwarded them or not. */
  readonly given: () => readonly string[];
  /** What it has said to each of them, as often as it was asked: the words of an error, or null where it took it. */
  readonly answers: ReadonlyMap<string, readonly (string | null)[]>;
};

export async function startWatchedNode(target: string, ...first: readonly Flaw[]): Promise<WatchedNode> {
  const state = { lie: undefined as Flaw | undefined, told: 0, flaws: first };
  const questions = countQuestions();
  const market = recordMarket();
  const answers = new Map<string, (string | null)[]>();
  const source: Pass = async (call) => {
    const answer = await askNode(target, call);
    questions.saw(call, answer.result);
    return answer;
  };
  const noteAnswer = (raw: string, reply: Reply | undefined) => {
    if (typeof reply !== 'object' || 'status' in reply) return;
    const words = reply.error === undefined ? null : reply.error.message;
    answers.set(raw, [...(answers.get(raw) ?? []), words]);
  };
  const watching: Flaw = async (call, pass) => {
    questions.asked(call);
    const reply = await pass(call);
    market.told(call, resultOf(reply));
    if (call.method === 'eth_sendRawTransaction') noteAnswer(String(call.params[0]), reply);
    return reply;
  };
  const lying: Flaw = (call, pass) => {
    const reply = state.lie?.(call, pass);
    if (reply !== undefined) state.told += 1;
    return reply;
  };
  const node = await startNode(source);
  const apply = () => node.setFlaws(watching, lying, ...state.flaws);
  apply();
  return {
    ...node,
    lie(lie) {
      state.lie = typeof lie === 'string' ? lies[lie] : lie;
      state.told = 0;
    },
    setFlaws(...flaws) {
      state.flaws = flaws;
      apply();
    },
    questions,
    market,
    told: () => state.told,
    given: () =>
      node.asked.flatMap(({ method, params }) =>
        method === 'eth_sendRawTransaction' ? [String(params[0])] : [],
      ),
    answers,
  };
}
