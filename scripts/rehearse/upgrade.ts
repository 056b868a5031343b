import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };
import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { checkOutRelease, findLastRelease } from '../../test/support/last-release.ts';
import { createSigners, startBenchChain } from '../bench/mint/bench-chain.ts';
import { commonDetails, countClasses } from '../load/answers.ts';
import { startDatabaseServer } from '../load/database-server.ts';
import { brokenInvariants, unfinishedMints } from '../load/invariants.ts';
import { lostWrites } from '../load/ledger.ts';
import { worldKey } from '../load/world.ts';
import { createReleaseWorld, runCommand } from './release-world.ts';
import type { Report } from './report.ts';
import { startFleet } from './upgrade-fleet.ts';
import { startUpgradeLoad, until } from './upgrade-load.ts';

const root = path.join(import.meta.dirname, '../..');
const steadyMs = 3_000;

/** What came of an upgrade. */
type Figures = Readonly<Record<string, string | number>>;

/** Replaces the last release by the present one, process by process, under load. */
export async function rehearseUpgrade(report: Report): Promise<Figures> {
  const last = findLastRelease();
  if (typeof last === 'string') throw new Error(`No release to upgrade from: ${last}`);
  await using opened = new AsyncDisposableStack();
  const release = opened.adopt(checkOutRelease(last), (old) => old.remove());
  const folder = opened.adopt(await mkdtemp(path.join(tmpdir(), 'tallystick-upgrade-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  const server = opened.adopt(await startDatabaseServer(path.join(folder, 'database')), (each) =>
    each.close(),
  );
  const signers = await createSigners(folder, 2);
  const chain = opened.adopt(await startBenchChain(folder, signers.addresses), (each) => each.stop());
  const key = `load:${worldKey.toString('base64')}`;
  const settings = {
    DATABASE_URL: server.url,
    SECRET_KEYS: key,
    CURSOR_KEYS: key,
    CLAIM_BASE_URL: 'https://c.example/c',
  };
  const old = { release: release.folder, settings };
  await runCommand(old, 'migrate');
  const world = await createReleaseWorld({ ...old, rpcUrl: chain.rpcUrl, contract: chain.contract });
  const fleet = opened.adopt(
    await startFleet({ folder, release: release.folder, settings, signers: signers.settings }),
    (each) => each.stop(),
  );
  const load = await startUpgradeLoad(fleet.port, world);
  const db = createDatabase(server.url, { poolMax: 2, log: createLogger({ level: 'silent' }) });
  opened.defer(() => db.destroy());

  await report(`${release.version} serves two companies: reads, writes, mints`, () => load.steady(steadyMs));
  const isMigrated = await report('tallystick migrate, while its processes go on', async () => {
    await runCommand({ release: root, settings }, 'migrate');
    await load.steady(steadyMs);
  });
  if (!isMigrated)
    throw new Error(`The migration failed under load:\n${commonDetails(load.answers()).join('\n')}`);
  await report(`a process of ${release.version} starts anew over the new schema`, async () => {
    await fleet.replace('api-1', release.folder, load.untilAnswered);
    await load.steady(steadyMs);
  });
  for (const name of fleet.names)
    await report(`${name} is replaced by ${packageFile.version} of today`, async () => {
      await fleet.replace(name, root, load.untilAnswered);
      await load.steady(steadyMs);
    });
  await load.stop();
  const counts = countClasses(load.answers());
  const failed = load.answers().length - counts.ok;
  await report(`all ${load.answers().length} requests were answered as asked`, async () => {
    if (failed > 0) throw new Error(commonDetails(load.answers()).join('\n'));
  });
  await report('every accepted mint is minted', () =>
    until(async () => (await unfinishedMints(db)) === 0, 'mints on their way'),
  );
  const lost = await lostWrites(db, load.ledger);
  await report(
    `all ${load.ledger.writes.length} accepted writes are there, and counters and chain agree`,
    async () => {
      const broken = await brokenInvariants(db, chain);
      const unhandled = fleet.unhandled();
      const faults = [...lost.map(({ kind, id }) => `lost: ${kind} ${id}`), ...broken, ...unhandled];
      if (faults.length > 0) throw new Error(faults.join('\n'));
    },
  );
  const minted = load.ledger.writes.filter(({ kind }) => kind === 'mint').length;
  return {
    from: release.version,
    requests: load.answers().length,
    failed,
    writes: load.ledger.writes.length,
    lost: lost.length,
    minted,
    slowestMs: Math.round(Math.max(...load.answers().map(({ ms }) => ms))),
  };
}
