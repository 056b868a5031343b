import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/contract/transaction.ts';
import { brokenInvariants, unfinishedMints } from '../load/invariants.ts';
import { until } from '../load/until.ts';
import { type Place, runCommand } from '../load/world.ts';
import type { Report } from './report.ts';
import { dumpDatabase, openDumpedScene, restoreDatabase, useService } from './scene.ts';

/** Backs a database up under load, goes on minting, loses it, and restores it into another server. */
export async function rehearseBackup(report: Report): Promise<object> {
  await using opened = new AsyncDisposableStack();
  const { scene, first, world } = await openDumpedScene(opened);
  const fleet = await scene.start(scene.placeOf(first.url));
  const load = await useService(fleet, world);
  const dump = path.join(scene.folder, 'backup.dump');
  const db = scene.openDatabase(first.url);
  await until(async () => (await countMinted(db)) > 3, 'too few mints');
  await report('pg_dump, under load', () => dumpDatabase(first.url, dump));
  await pause(5_000);
  await load.stop();
  await until(async () => (await unfinishedMints(db)) === 0, 'mints on their way');
  const minted = await countMinted(db);
  await fleet.stop();

  const second = await scene.serve('second');
  const place = scene.placeOf(second.url);
  await restoreDatabase(report, place, dump);
  const restored = scene.openDatabase(second.url);
  const kept = await countMinted(restored);
  await report(`recover finds the ${minted - kept} of ${minted} mints that the backup does not have`, () =>
    recover({ ...place, settings: { ...place.settings, ...scene.signers.settings } }, restored, minted),
  );
  for (const what of ['mint', 'audit'])
    await report(`tallystick ${what} verify`, async () => void (await runCommand(place, what, 'verify')));
  await report('the service goes on over it, and counters and chain agree', async () => {
    const again = await scene.start(place);
    await until(async () => (await unfinishedMints(restored)) === 0, 'mints on their way');
    const faults = [...(await brokenInvariants(restored, scene.chain)), ...again.unhandled()];
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  return { minted, inBackup: kept, recovered: (await countMinted(restored)) - kept };
}

async function countMinted(db: Database): Promise<number> {
  const { rows } = await db.raw("SELECT count(*)::int AS count FROM nfts WHERE mint_state = 'minted'");
  return rows[0].count;
}

/** As an operator does: let minting wait, check, apply; again until what the chain shows is final. */
async function recover(place: Place, db: Database, minted: number): Promise<void> {
  await runCommand(place, 'recover', '--begin');
  const apply = () =>
    runCommand(place, 'recover', '--apply').then(
      () => true,
      () => false,
    );
  await until(apply, 'mints that are not recovered');
  const now = await countMinted(db);
  if (now !== minted) throw new Error(`${now} of ${minted} mints are there`);
}
