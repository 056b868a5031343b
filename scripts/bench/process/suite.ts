import { quantile } from '../../load/answers.ts';
import { openWithChain } from '../http/data-set.ts';
import { type Subject, startPeer, startService } from '../start-service.ts';
import { areHeld, atMost, below, type Suite } from '../suite.ts';
import { measureIdleness } from './idleness.ts';

const starts = 5;

export const processSuite: Suite = {
  about: 'Start and idleness; about a minute',
  async run({ isQuick, say }) {
    await using opened = new AsyncDisposableStack();
    const data = await openWithChain(opened, { isQuick, isWritten: true, say });
    const env = { DATABASE_URL: data.url };
    const readyMs = await startTimes(() => startService(env));
    const peerReadyMs = await startTimes(() => startPeer(env));
    say(`ready after ${readyMs.join(', ')} ms, Fastify written by hand after ${peerReadyMs.join(', ')} ms`);
    const idle = await measureIdleness(env, data, isQuick ? 10 : 40);
    say(
      `idle: ${idle.transactionsPerSecond} transactions a second, ${idle.corePercent} % of a core, ${idle.memoryMb} MB`,
    );
    const limits = {
      readyMs: below(quantile(readyMs, 0.5), 1_000),
      idleTransactionsPerSecond: atMost(idle.transactionsPerSecond, 12),
      idleCorePercent: atMost(idle.corePercent, 1),
    };
    const beside = { readyMsByHand: quantile(peerReadyMs, 0.5), idleMemoryMb: idle.memoryMb };
    return { ok: areHeld(limits), limits, beside, readyMs, peerReadyMs, idle };
  },
};

/** From the start of a process for callers until it says that it is ready, in milliseconds. */
async function startTimes(startOne: () => Promise<Subject>): Promise<number[]> {
  const found: number[] = [];
  for (let start = 0; start < starts; start += 1) {
    const subject = await startOne();
    found.push(Math.round(subject.readyMs));
    await subject.stop();
  }
  return found;
}
