import { setTimeout as pause } from 'node:timers/promises';
import packageFile from '../../package.json' with { type: 'json' };
import { checkOutRelease, findOldestRelease } from '../../test/support/oldest-release.ts';
import { commonDetails } from '../load/answers.ts';
import { runCommand, thisRelease } from '../load/world.ts';
import type { Report } from './report.ts';
import { openScene, reportUse, useService } from './scene.ts';

const steadyMs = 3_000;

/** Replaces the oldest release of the schema range by the present release, process by process, under load. */
export async function rehearseUpgrade(report: Report): Promise<object> {
  const last = findOldestRelease();
  if (typeof last === 'string') throw new Error(`No release to upgrade from: ${last}`);
  await using opened = new AsyncDisposableStack();
  const release = opened.adopt(checkOutRelease(last), (old) => old.remove());
  const scene = await openScene(opened, 2);
  const { url } = await scene.serve('database');
  const old = scene.placeOf(url, release.folder);
  const world = await scene.settle(old);
  const fleet = await scene.start(old);
  const load = await useService(fleet, world);
  const db = scene.openDatabase(url);

  await report(`${release.version} serves two companies: reads, writes, mints`, () => pause(steadyMs));
  const isMigrated = await report('tallystick migrate, while its processes go on', async () => {
    await runCommand(scene.placeOf(url), 'migrate');
    await pause(steadyMs);
  });
  if (!isMigrated)
    throw new Error(`The migration failed under load:\n${commonDetails(load.answers).join('\n')}`);
  const replace = async (name: string, folder: string) => {
    await fleet.replace(name, folder, load.untilAnswered);
    await pause(steadyMs);
  };
  await report(`a process of ${release.version} starts again over the new schema`, () =>
    replace('api-1', release.folder),
  );
  for (const name of fleet.names)
    await report(`${name} is replaced by ${packageFile.version} of today`, () => replace(name, thisRelease));
  await load.stop();
  const figures = await reportUse(report, { loads: [load], fleets: [fleet], db, chain: scene.chain });
  const minted = load.ledger.writes.filter(({ kind }) => kind === 'mint').length;
  const slowestMs = Math.round(Math.max(...load.answers.map(({ ms }) => ms)));
  return { from: release.version, ...figures, minted, slowestMs };
}
