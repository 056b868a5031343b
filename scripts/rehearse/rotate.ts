import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/contract/transaction.ts';
import { chainId } from '../bench/mint/bench-chain.ts';
import { commonDetails, countClasses } from '../load/answers.ts';
import { brokenInvariants, unfinishedMints } from '../load/invariants.ts';
import { lostWrites } from '../load/ledger.ts';
import type { Company } from '../load/world.ts';
import { createReleaseWorld, runCommand } from './release-world.ts';
import type { Report } from './report.ts';
import { openScene, type Scene } from './scene.ts';
import type { Fleet } from './upgrade-fleet.ts';
import { startUpgradeLoad, type UpgradeLoad, until } from './upgrade-load.ts';

const root = path.join(import.meta.dirname, '../..');
const steadyMs = 2_000;
const revokedMs = 10_000;

type Stage = {
  readonly scene: Scene;
  readonly url: string;
  readonly fleet: Fleet;
  readonly load: UpgradeLoad;
};

/** Replaces every key of a service that goes on: of secrets, cursors, callers and mints. */
export async function rehearseRotation(report: Report): Promise<object> {
  await using opened = new AsyncDisposableStack();
  const scene = await openScene(opened, { signers: 2 });
  const { chain, of } = scene;
  const { url } = await scene.serve('database');
  await runCommand(of(url), 'migrate');
  // With credentials, so that the address is sealed.
  const rpcUrl = chain.rpcUrl.replace('//', '//operator:secret@');
  const world = await createReleaseWorld({ ...of(url), rpcUrl, contract: chain.contract });
  const [oldSigner = '', newSigner = ''] = String(scene.signers.settings['MINT_SIGNERS']).split(',');
  const fleet = await scene.start(url, { ...scene.signers.settings, MINT_SIGNERS: oldSigner });
  const load = await startUpgradeLoad(fleet.port, world);
  const stage = { scene, url, fleet, load };
  const db = scene.openDatabase(url);
  await until(async () => (await countSealed(db, 'load')) > 3, 'too few claim secrets');

  await rotateSecrets(report, stage, db);
  await report('an API key: a second one works, and the first is refused everywhere within 10 s', () =>
    rotateApiKey(stage, world.acme),
  );
  await rotateSigner(report, stage, { both: `${oldSigner},${newSigner}`, next: newSigner });

  await load.stop();
  const failed = load.answers().length - countClasses(load.answers()).ok;
  await report(`all ${load.answers().length} requests were answered as asked`, async () => {
    if (failed > 0) throw new Error(commonDetails(load.answers()).join('\n'));
  });
  await report('every accepted mint is minted', () =>
    until(async () => (await unfinishedMints(db)) === 0, 'mints on their way'),
  );
  const lost = await lostWrites(db, load.ledger);
  const { length: writes } = load.ledger.writes;
  await report(`all ${writes} accepted writes are there, and counters and chain agree`, async () => {
    const faults = [...(await brokenInvariants(db, chain)), ...fleet.unhandled()];
    if (lost.length > 0 || faults.length > 0) throw new Error([`${lost.length} lost`, ...faults].join('\n'));
  });
  return { requests: load.answers().length, failed, writes, lost: lost.length };
}

/** Each process anew, one after the other, with the settings that the fleet has by now. */
async function replaceAll({ fleet, load }: Stage): Promise<void> {
  for (const name of fleet.names) await fleet.replace(name, root, load.untilAnswered);
  await load.steady(steadyMs);
}

async function rotateSecrets(report: Report, stage: Stage, db: Database): Promise<void> {
  const { scene, url, fleet } = stage;
  const old = String(scene.settingsOf(url)['SECRET_KEYS']);
  const next = `next:${randomBytes(32).toString('base64')}`;
  const use = async (keys: string) => {
    fleet.configure({ settings: { SECRET_KEYS: keys, CURSOR_KEYS: keys } });
    await replaceAll(stage);
  };
  const own = { release: root, settings: { ...scene.settingsOf(url), SECRET_KEYS: `${next},${old}` } };
  await report('the new key behind the old one, so that every process opens with it', () =>
    use(`${old},${next}`),
  );
  await report('the new key in front, so that every process seals with it', () => use(`${next},${old}`));
  await report(
    'tallystick rwa rotate-secrets, network seal: nothing is sealed with the old key',
    async () => {
      await runCommand(own, 'rwa', 'rotate-secrets');
      await runCommand(own, 'network', 'seal');
      const left = (await countSealed(db, 'load')) + (await countAddresses(db, 'load'));
      const now = await countAddresses(db, 'next');
      if (left > 0 || now === 0)
        throw new Error(`${left} sealed with the old key, ${now} addresses with the new`);
    },
  );
  await report('the old key taken away: every secret is shown', async () => {
    await use(next);
    await assertReadable({ ...own, settings: { ...own.settings, SECRET_KEYS: next } }, db);
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
async function assertReadable(of: Parameters<typeof runCommand>[0], db: Database): Promise<void> {
  const { rows } = await db.raw('SELECT id::text, total_nfts::int AS count FROM rwas');
  for (const { id, count } of rows) {
    const exported = await runCommand(of, 'rwa', 'export', id);
    const urls = JSON.stringify(exported).match(/#[A-Za-z0-9_-]{16,}/g) ?? [];
    if (urls.length < count) throw new Error(`${urls.length} of ${count} secrets of ${id} are shown`);
  }
}

async function rotateApiKey({ scene, url, fleet }: Stage, { name }: Company): Promise<void> {
  const make = async (): Promise<string> => {
    const made = await runCommand(scene.of(url), 'key', 'create', '--company', name);
    return String(Object.entries(made ?? {}).find(([field]) => field === 'key')?.[1]);
  };
  const status = async (key: string) => {
    const asked = { headers: { 'x-api-key': key }, signal: AbortSignal.timeout(revokedMs) };
    return (await fetch(`http://127.0.0.1:${fleet.port}/v1/api/rwa`, asked)).status;
  };
  const [first, second] = [await make(), await make()];
  const both = [await status(first), await status(second)];
  if (both.join() !== '200,200') throw new Error(`Before, they are answered ${both.join()}.`);
  await runCommand(scene.of(url), 'key', 'revoke', first);
  await pause(revokedMs);
  // The balancer asks one process after the other.
  const after = [await status(first), await status(first), await status(second), await status(second)];
  if (after.join() !== '401,401,200,200') throw new Error(`After, they are answered ${after.join()}.`);
}

type Signers = { readonly both: string; readonly next: string };

async function rotateSigner(report: Report, stage: Stage, { both, next }: Signers): Promise<void> {
  const { scene, url, fleet, load } = stage;
  const [old = ''] = scene.signers.addresses;
  const useSigners = async (signers: string) => {
    fleet.configure({ signers: { MINT_SIGNERS: signers } });
    await fleet.replace('worker', root, load.untilAnswered);
    await load.steady(steadyMs);
  };
  await report('a second signer beside the first', () => useSigners(both));
  await report('the first one paused, until nothing of it is in flight', async () => {
    await runCommand(scene.of(url), 'mint', 'pause', '--chain-id', chainId, '--signer', old);
    await until(async () => (await inFlight(scene.of(url), old)) === 0, 'transactions of the old signer');
  });
  await report('the first one taken away, and mints go on', async () => {
    await useSigners(next);
    const mints = () => load.ledger.writes.filter(({ kind }) => kind === 'mint').length;
    const before = mints();
    await until(async () => mints() > before + 2, 'too few mints');
  });
}

async function inFlight(of: Parameters<typeof runCommand>[0], signer: string): Promise<number> {
  const lanes: unknown = await runCommand(of, 'mint', 'show');
  if (!Array.isArray(lanes)) throw new Error(`No lanes are shown: ${JSON.stringify(lanes)}`);
  const lane = lanes.find((each) => String(each.signer).toLowerCase() === signer.toLowerCase());
  return lane === undefined ? 0 : Number(lane.inFlight);
}
