import { setTimeout as pause } from 'node:timers/promises';
import { brokenInvariants, unfinishedMints } from '../../load/invariants.ts';
import { lostWrites, type Write } from '../../load/ledger.ts';
import type { Aftermath, Stage } from './fault.ts';

const mintPatienceMs = 60_000;

/** Waits for the mints that were accepted, and looks at what is stored. */
export async function leftBehind(
  { around, service, ledger }: Stage,
  { lossBetween, killed = [] }: Pick<Aftermath, 'lossBetween' | 'killed'>,
) {
  const db = around.openDatabase();
  try {
    const deadline = performance.now() + mintPatienceMs;
    while ((await unfinishedMints(db)) > 0 && performance.now() < deadline) await pause(500);
    const unfinished = await unfinishedMints(db);
    const lost = await lostWrites(db, ledger);
    ledger.forget(lost);
    const isExcused = ({ at }: Write) =>
      lossBetween !== undefined && at >= lossBetween[0] && at <= lossBetween[1];
    const unhandled = service.replicas().flatMap((replica) => replica.unhandled());
    const ended = (await service.revive()).filter((text) => !killed.some((name) => text.startsWith(name)));
    // What one fault has made of the limits is judged by its answers, and is not to spoil the next.
    await db('rate_limits').delete();
    return {
      unfinished,
      lost: lost.filter((write) => !isExcused(write)),
      excused: lost.filter(isExcused).length,
      broken: await brokenInvariants(db, around.chain),
      unhandled,
      ended,
    };
  } finally {
    await db.destroy();
  }
}
