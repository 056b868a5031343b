import { expect, test, vi } from 'vitest';
import { inScope } from '../../src/base/request-scope.ts';
import { createQuestionTurns } from '../../src/chain/rpc/client/question-turns.ts';
import type { AskNetwork } from '../../src/chain/rpc/pool/failover.ts';

const never = new AbortController().signal;
const by = <T>(tenant: string, work: () => T): T => inScope({ tenant, signal: never, isRead: true }, work);

/** A network that answers when it is told to. */
function setup({ waitMs = 60_000 } = {}) {
  const asked: string[] = [];
  const ends: (() => void)[] = [];
  const network: AskNetwork = async (method) => {
    asked.push(method);
    await new Promise<void>((resolve) => ends.push(resolve));
    return { result: method };
  };
  const ask = createQuestionTurns({ waitMs })(network);
  const answerAll = () => {
    for (const end of ends.splice(0)) end();
  };
  return { ask, asked, answerAll };
}

test('a company that asks very much leaves turns to others, and minting waits for nobody', async () => {
  const { ask, asked, answerAll } = setup();
  const questions = Array.from({ length: 500 }, () => by('greedy', () => ask('greedy', [])));
  const greedy = () => asked.filter((name) => name === 'greedy').length;
  await expect.poll(greedy).toBe(24);
  const small = by('small', () => ask('small', []));
  const minting = ask('minting', []);
  await expect.poll(() => asked).toEqual(expect.arrayContaining(['small', 'minting']));
  answerAll();
  await small;
  await minting;
  // While others ask, it has a quarter.
  await expect.poll(greedy).toBe(24 + 8);
  for (; greedy() < 500; await Promise.resolve()) answerAll();
  answerAll();
  await Promise.all(questions);
});

test('a question that waits too long, or behind too many, is overloaded, and asks nobody', async () => {
  const { ask, asked, answerAll } = setup({ waitMs: 20 });
  const outcomes = Array.from({ length: 1_100 }, () => by('greedy', () => ask('greedy', [])));
  const settled = Promise.allSettled(outcomes);
  await expect(outcomes.at(-1)).rejects.toMatchObject({ code: 'overloaded' });
  // The last of those that wait: when it has given up, nobody takes a turn that becomes free.
  await expect(outcomes[24 + 1_000 - 1]).rejects.toMatchObject({ code: 'overloaded' });
  expect(asked).toHaveLength(24);
  answerAll();
  expect((await settled).filter(({ status }) => status === 'fulfilled')).toHaveLength(24);
});

test('whoever waits for a turn has no place among the requests at work', async () => {
  const { ask, answerAll } = setup();
  const onAway = vi.fn();
  const question = inScope({ tenant: 'acme', signal: never, isRead: true, onAway }, () =>
    ask('eth_call', []),
  );
  expect(onAway).toHaveBeenCalledOnce();
  await Promise.resolve();
  answerAll();
  await expect(question).resolves.toEqual({ result: 'eth_call' });
});
