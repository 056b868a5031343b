import path from 'node:path';
import type { Database } from '../../src/contract/transaction.ts';
import type { BenchChain } from '../bench/mint/bench-chain.ts';
import { brokenInvariants, unfinishedMints } from '../load/invariants.ts';
import { runCommand } from './release-world.ts';
import type { Report } from './report.ts';
import { dumpDatabase, openDumpedScene, restoreDatabase } from './scene.ts';
import type { Fleet } from './upgrade-fleet.ts';
import { startUpgradeLoad, until } from './upgrade-load.ts';

/** Backs a database up under load, goes on minting, loses it, and restores it into another server. */
export async function rehearseBackup(report: Report): Promise<object> {
  await using opened = new AsyncDisposableStack();
  const { scene, first, world } = await openDumpedScene(opened);
  const { chain, of, start } = scene;
  const fleet = await start(first.url);
  const load = await startUpgradeLoad(fleet.port, world);
  const dump = path.join(scene.folder, 'backup.dump');
  const db = scene.openDatabase(first.url);
  await until(async () => (await countMinted(db)) > 3, 'too few mints');
  await report('pg_dump, under load', () => dumpDatabase(first.url, dump));
  await load.steady(5_000);
  await load.stop();
  await until(async () => (await unfinishedMints(db)) === 0, 'mints on their way');
  const minted = await countMinted(db);
  await fleet.stop();

  const second = await scene.serve('second');
  await report('pg_restore into an empty server, and tallystick migrate for the rights', async () => {
    await restoreDatabase(second.url, dump);
    await runCommand(of(second.url), 'migrate');
  });
  const restored = scene.openDatabase(second.url);
  const kept = await countMinted(restored);
  await report(`recover finds the ${minted - kept} of ${minted} mints that the backup does not have`, () =>
    recover(of(second.url), restored, minted),
  );
  for (const words of [
    ['mint', 'verify'],
    ['counts', 'verify'],
    ['audit', 'verify'],
  ])
    await report(
      `tallystick ${words.join(' ')}`,
      async () => void (await runCommand(of(second.url), ...words)),
    );
  await report('the service goes on over it, and counters and chain agree', async () =>
    goOn(await start(second.url), restored, chain),
  );
  return { minted, inBackup: kept, recovered: (await countMinted(restored)) - kept };
}

type Of = Parameters<typeof runCommand>[0];

async function countMinted(db: Database): Promise<number> {
  const { rows } = await db.raw("SELECT count(*)::int AS count FROM nfts WHERE mint_state = 'minted'");
  return rows[0].count;
}

/** As an operator does: let minting wait, look, apply; again until what the chain shows is final. */
async function recover(of: Of, db: Database, minted: number): Promise<void> {
  await runCommand(of, 'recover', '--begin');
  const apply = () =>
    runCommand(of, 'recover', '--apply').then(
      () => true,
      () => false,
    );
  await until(apply, 'mints that are not recovered');
  const now = await countMinted(db);
  if (now !== minted) throw new Error(`${now} of ${minted} mints are there`);
}

async function goOn(fleet: Fleet, db: Database, chain: BenchChain): Promise<void> {
  await until(async () => (await unfinishedMints(db)) === 0, 'mints on their way');
  const faults = [...(await brokenInvariants(db, chain)), ...fleet.unhandled()];
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
