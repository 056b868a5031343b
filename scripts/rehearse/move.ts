import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { unfinishedMints } from '../load/invariants.ts';
import { runCommand } from '../load/world.ts';
import type { Report } from './report.ts';
import { dumpDatabase, openDumpedScene, reportUse, restoreDatabase, useService } from './scene.ts';

const steadyMs = 5_000;

/** Moves the service to another database: stopped, dumped, restored, started, with mints on their way. */
export async function rehearseMove(report: Report): Promise<object> {
  await using opened = new AsyncDisposableStack();
  const { scene, first, world } = await openDumpedScene(opened);
  const before = await scene.start(scene.placeOf(first.url));
  const load = await useService(before, world);
  await pause(steadyMs);
  await load.stop();
  const stoppedAt = performance.now();
  await report('all processes stop in order, with mints on their way', () => before.stop());
  const old = scene.openDatabase(first.url);
  const underWay = await unfinishedMints(old);
  const dump = path.join(scene.folder, 'move.dump');
  // A process that still runs over it must not be able to mint.
  await report('the old database takes no more writes', async () => {
    const name = new URL(first.url).pathname.slice(1);
    await old.raw(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  });
  await report('pg_dump', () => dumpDatabase(first.url, dump));
  const second = await scene.serve('second');
  const place = scene.placeOf(second.url);
  await restoreDatabase(report, place, dump);
  const verify = (what: string) =>
    report(`tallystick ${what} verify`, async () => void (await runCommand(place, what, 'verify')));
  await verify('audit');
  const after = await scene.start(place);
  const downMs = Math.round(performance.now() - stoppedAt);
  const again = await useService(after, world);
  await pause(steadyMs);
  await again.stop();
  const db = scene.openDatabase(second.url);
  const used = { loads: [load, again], fleets: [before, after], db, chain: scene.chain };
  const figures = await reportUse(report, used);
  await verify('mint');
  return { ...figures, underWay, downMs };
}
