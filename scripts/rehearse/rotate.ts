import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/contract/transaction.ts';
import { chainId } from '../bench/mint/bench-chain.ts';
import type { Fleet, Settings } from '../load/fleet.ts';
import { until } from '../load/until.ts';
import type { UsualLoad } from '../load/usual-load.ts';
import { type Company, type Place, runCommand, thisRelease } from '../load/world.ts';
import type { Report } from './report.ts';
import { openScene, reportUse, type Scene, useService } from './scene.ts';

const steadyMs = 2_000;
const revokedMs = 10_000;

type Stage = {
  readonly scene: Scene;
  readonly place: Place;
  readonly fleet: Fleet;
  readonly load: UsualLoad;
  /** Settings of processes that start from now on. */
  readonly changes: { ofAll: Settings; ofWorker: Settings };
};

/** Replaces every key of a service that goes on: of secrets, cursors, callers and mints. */
export async function rehearseRotation(report: Report): Promise<object> {
  await using opened = new AsyncDisposableStack();
  const scene = await openScene(opened, 2);
  const { chain, signers } = scene;
  const { url } = await scene.serve('database');
  const place = scene.placeOf(url);
  // With credentials, so that the address is sealed.
  const world = await scene.settle(place, chain.rpcUrl.replace('//', '//operator:secret@'));
  const [oldSigner = '', newSigner = ''] = String(signers.settings['MINT_SIGNERS']).split(',');
  const changes = { ofAll: {}, ofWorker: { ...signers.settings, MINT_SIGNERS: oldSigner } };
  const fleet = await scene.start(place, () => changes);
  const load = await useService(fleet, world);
  const stage = { scene, place, fleet, load, changes };
  const db = scene.openDatabase(url);

  await rotateSecrets(report, stage, db);
  await report('an API key: a second one works, and the first is refused everywhere within 10 s', () =>
    rotateApiKey(stage, world.acme),
  );
  await rotateSigner(report, stage, { both: `${oldSigner},${newSigner}`, next: newSigner });
  await load.stop();
  // The load, the fleet and the database are closed when this function ends.
  return await reportUse(report, { loads: [load], fleets: [fleet], db, chain });
}

async function rotateSecrets(
  report: Report,
  { place, fleet, load, changes }: Stage,
  db: Database,
): Promise<void> {
  const old = String(place.settings['SECRET_KEYS']);
  const next = `next:${randomBytes(32).toString('base64')}`;
  const use = async (keys: string) => {
    changes.ofAll = { SECRET_KEYS: keys, CURSOR_KEYS: keys };
    for (const name of fleet.names) await fleet.replace(name, thisRelease, load.untilAnswered);
    await pause(steadyMs);
  };
  const withKeys = (keys: string): Place => ({
    ...place,
    settings: { ...place.settings, SECRET_KEYS: keys },
  });
  await report('the new key behind the old one, so that every process opens with it', () =>
    use(`${old},${next}`),
  );
  await report('the new key in front, so that every process seals with it', () => use(`${next},${old}`));
  await report(
    'tallystick rwa rotate-secrets, network seal: nothing is sealed with the old key',
    async () => {
      await runCommand(withKeys(`${next},${old}`), 'rwa', 'rotate-secrets');
      await runCommand(withKeys(`${next},${old}`), 'network', 'seal');
      const left = (await countSealed(db, 'load')) + (await countAddresses(db, 'load'));
      const now = await countAddresses(db, 'next');
      if (left > 0 || now === 0)
        throw new Error(`${left} sealed with the old key, ${now} addresses with the new`);
    },
  );
  await report('the old key taken away: every secret is shown', async () => {
    await use(next);
    await assertReadable(withKeys(next), db);
  });
}

async function countSealed(db: Database, keyId: string): Promise<number> {
  const { rows } = await db.raw('SELECT count(*)::int AS count FROM nfts WHERE secret_key_id = ?', [keyId]);
  return rows[0].count;
}

async function countAddresses(db: Database, keyId: string): Promise<number> {
  const { rows } = await db.raw('SELECT count(*)::int AS count FROM networks n WHERE n::text LIKE ?', [
    `%${keyId}:%`,
  ]);
  return rows[0].count;
}

/** Every NFT of every asset is exported with its secret. */
async function assertReadable(place: Place, db: Database): Promise<void> {
  const { rows } = await db.raw('SELECT id::text, total_nfts::int AS count FROM rwas');
  for (const { id, count } of rows) {
    const exported = await runCommand(place, 'rwa', 'export', id);
    const urls = JSON.stringify(exported).match(/#[A-Za-z0-9_-]{16,}/g) ?? [];
    if (urls.length < count) throw new Error(`${urls.length} of ${count} secrets of ${id} are shown`);
  }
}

async function rotateApiKey({ place, fleet }: Stage, { name }: Company): Promise<void> {
  const make = async (): Promise<string> => {
    const made = await runCommand(place, 'key', 'create', '--company', name);
    return String(Object.entries(made ?? {}).find(([field]) => field === 'key')?.[1]);
  };
  const status = async (key: string) => {
    const asked = { headers: { 'x-api-key': key }, signal: AbortSignal.timeout(revokedMs) };
    return (await fetch(`http://127.0.0.1:${fleet.port}/v1/api/rwa`, asked)).status;
  };
  const [first, second] = [await make(), await make()];
  const both = [await status(first), await status(second)];
  if (both.join() !== '200,200') throw new Error(`Before, they are answered ${both.join()}.`);
  await runCommand(place, 'key', 'revoke', first);
  await pause(revokedMs);
  // The balancer asks one process after the other.
  const after = [await status(first), await status(first), await status(second), await status(second)];
  if (after.join() !== '401,401,200,200') throw new Error(`After, they are answered ${after.join()}.`);
}

type Signers = { readonly both: string; readonly next: string };

async function rotateSigner(report: Report, stage: Stage, { both, next }: Signers): Promise<void> {
  const { scene, place, fleet, load, changes } = stage;
  const [old = ''] = scene.signers.addresses;
  const useSigners = async (signers: string) => {
    changes.ofWorker = { ...changes.ofWorker, MINT_SIGNERS: signers };
    await fleet.replace('worker', thisRelease, load.untilAnswered);
    await pause(steadyMs);
  };
  await report('a second signer beside the first', () => useSigners(both));
  await report('the first one paused, until nothing of it is in flight', async () => {
    await runCommand(place, 'mint', 'pause', '--chain', chainId, '--signer', old);
    await until(async () => (await inFlight(place, old)) === 0, 'transactions of the old signer');
  });
  await report('the first one taken away, and mints go on', async () => {
    await useSigners(next);
    const mints = () => load.ledger.writes.filter(({ kind }) => kind === 'mint').length;
    const before = mints();
    await until(async () => mints() > before + 2, 'too few mints');
  });
}

async function inFlight(place: Place, signer: string): Promise<number> {
  const lanes: unknown = await runCommand(place, 'mint', 'show');
  if (!Array.isArray(lanes)) throw new Error(`No lanes are shown: ${JSON.stringify(lanes)}`);
  const lane = lanes.find((each) => String(each.signer).toLowerCase() === signer.toLowerCase());
  return lane === undefined ? 0 : Number(lane.inFlight);
}
