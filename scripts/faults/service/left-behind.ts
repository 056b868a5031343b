import { brokenInvariants, unfinishedMints } from '../../load/invariants.ts';
import { lostWrites, type Write } from '../../load/ledger.ts';
import { until } from '../../load/until.ts';
import type { Aftermath, Stage } from './fault.ts';

const mintPatienceMs = 60_000;

/** Waits for the mints that were accepted, and reads what is stored. */
export async function leftBehind({ around, service, ledger }: Stage, { lossBetween }: Aftermath) {
  const db = around.openDatabase();
  try {
    const areMinted = async () => (await unfinishedMints(db)) === 0;
    await until(areMinted, 'mints on their way', mintPatienceMs).catch(() => {});
    const unfinished = await unfinishedMints(db);
    const gone = await lostWrites(db, ledger.writes);
    ledger.forget(gone);
    const isExcused = ({ at }: Write) =>
      lossBetween !== undefined && at >= lossBetween[0] && at <= lossBetween[1];
    const unhandled = service.replicas().flatMap((replica) => replica.unhandled());
    const ended = await service.revive();
    // What one fault has made of the limits is judged by its answers, and is not to spoil the next.
    await db('rate_limits').delete();
    const lost = gone.filter((write) => !isExcused(write));
    const broken = await brokenInvariants(db, around.chain);
    return { unfinished, lost, excused: gone.length - lost.length, broken, unhandled, ended };
  } finally {
    await db.destroy();
  }
}
