import { remember } from '../../context/evidence-memory.ts';
import type { LaneContext } from '../../context/lane-context.ts';

type Context = Pick<LaneContext, 'memory' | 'now' | 'settings'>;

// In polls: a minute where a poll takes a second.
const longest = 64;

/** Whether it is time to ask again about an NFT or a transaction. */
export function isDue({ memory, now }: Context, id: string): boolean {
  const retry = memory.evidence.retries.get(id);
  return retry === undefined || now() >= retry.at;
}

/** Remembers that asking about it failed: each time it rests twice as long. */
export function restBeforeRetry({ memory, now, settings }: Context, id: string): void {
  const tries = (memory.evidence.retries.get(id)?.tries ?? 0) + 1;
  const polls = Math.min(2 ** (tries - 1), longest);
  remember(memory.evidence.retries, id, { tries, at: now() + polls * settings.pollMs });
}
