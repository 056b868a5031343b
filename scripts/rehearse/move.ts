import path from 'node:path';
import { countClasses } from '../load/answers.ts';
import { brokenInvariants, unfinishedMints } from '../load/invariants.ts';
import { lostWrites } from '../load/ledger.ts';
import { runCommand } from './release-world.ts';
import type { Report } from './report.ts';
import { dumpDatabase, openDumpedScene, restoreDatabase, type Scene } from './scene.ts';
import { startUpgradeLoad, until } from './upgrade-load.ts';

const steadyMs = 5_000;

/** Moves the service to another database: stopped, dumped, restored, started, with mints on their way. */
export async function rehearseMove(report: Report): Promise<object> {
  await using opened = new AsyncDisposableStack();
  const { scene, first, world } = await openDumpedScene(opened);
  const { chain, of } = scene;
  const before = await scene.start(first.url);
  const load = await startUpgradeLoad(before.port, world);
  await load.steady(steadyMs);
  await load.stop();
  const stoppedAt = performance.now();
  await report('all processes stop in order, with mints on their way', () => before.stop());
  const old = scene.openDatabase(first.url);
  const underWay = await unfinishedMints(old);
  const dump = path.join(scene.folder, 'move.dump');
  await report('the old database takes no more writes', () => closeToWrites(scene, first.url));
  await report('pg_dump', () => dumpDatabase(first.url, dump));
  const second = await scene.serve('second');
  await report('pg_restore into an empty server, and tallystick migrate for the rights', async () => {
    await restoreDatabase(second.url, dump);
    await runCommand(of(second.url), 'migrate');
  });
  for (const what of ['counts', 'audit'])
    await report(`tallystick ${what} verify`, async () => {
      await runCommand(of(second.url), what, 'verify');
    });
  const after = await scene.start(second.url);
  const downMs = Math.round(performance.now() - stoppedAt);
  const again = await startUpgradeLoad(after.port, world);
  await again.steady(steadyMs);
  await again.stop();
  const db = scene.openDatabase(second.url);
  await report('every accepted mint is minted, those that were on their way as well', () =>
    until(async () => (await unfinishedMints(db)) === 0, 'mints on their way'),
  );
  await report('tallystick mint verify', async () => {
    await runCommand(of(second.url), 'mint', 'verify');
  });
  const answers = [...load.answers(), ...again.answers()];
  const failed = answers.length - countClasses(answers).ok;
  const writes = [...load.ledger.writes, ...again.ledger.writes];
  const lost = await lostWrites(db, { ...load.ledger, writes });
  await report(`all ${writes.length} accepted writes are there, and counters and chain agree`, async () => {
    const faults = [
      ...lost.map(({ kind, id }) => `lost: ${kind} ${id}`),
      ...(await brokenInvariants(db, chain)),
      ...[before, after].flatMap((fleet) => fleet.unhandled()),
    ];
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  return { requests: answers.length, failed, writes: writes.length, lost: lost.length, underWay, downMs };
}

/** Whoever still runs over the old database must not be able to mint. */
async function closeToWrites(scene: Scene, url: string): Promise<void> {
  const db = scene.openDatabase(url);
  await db.raw(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
}
