import { backUp, restoreBackup } from '../support/backup.ts';
import { until } from '../support/minting.ts';
import { moveClocks } from './clock-faults.ts';
import type { Fault, Scene } from './fault-scene.ts';

/** Makes the database what it was, as an operator does, with all of its workers stopped. */
async function restore({ setup, network, ids }: Scene): Promise<string> {
  await setup.killAll();
  const isRestored = await restoreBackup(setup.service.db);
  if (!isRestored) return 'no backup to restore';
  await setup.useNodes(network.nodes);
  const isRecovered = await setup.recover();
  const rows = await setup.service.db('nfts').whereIn('id', ids).select('id');
  ids.splice(0, ids.length, ...rows.map(({ id }) => id));
  return `restore the database${isRecovered ? '' : ', to be recovered'}`;
}

/** A database that is older than the chain. */
export const restoreFaults: readonly Fault[] = [
  async ({ setup }) => {
    await backUp(setup.service.db);
    return 'back the database up';
  },
  restore,
  async (scene) => {
    const { setup, chance, ids } = scene;
    await backUp(setup.service.db);
    const first = await moveClocks(scene);
    const lost = await setup.accept(1 + chance.below(3));
    ids.push(...lost);
    if (setup.running().length === 0) setup.work();
    const mining = setup.keepMining();
    const minted = () => setup.service.db('nfts').whereIn('id', lost).where({ mint_state: 'minted' });
    // Those that are not minted by then are lost before they are sent, or between.
    await until('the mints', async () => (await minted()).length === lost.length, 5).catch(() => {});
    mining.stop();
    const count = (await minted()).length;
    const then = await moveClocks(scene);
    return `${first}; accept ${lost.length}, of which ${count} are minted; ${then}; ${await restore(scene)}`;
  },
];
