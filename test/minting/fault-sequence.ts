import { forgetBackup } from '../support/backup.ts';
import { createChance } from './chance.ts';
import { faultKinds, type Scene, setRight } from './fault-kinds.ts';
import { sortFound } from './invariants.ts';
import type { MintSetup } from './mint-setup.ts';
import { makeNetwork } from './node-qualities.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// One sequence in so many has workers of the last release, too.
const releaseOneOf = 8;

/**
 * Accepts mints on a network whose nodes are what the seed says, and lets go wrong what it says. Then ends what was for
 * a time and judges what becomes of them with nodes as they are; last makes all nodes sound, and judges the end.
 * @param lastRelease the folder with the files of the last release
 */
export async function runSequence(setup: MintSetup, seed: number, lastRelease?: string) {
  const begun = performance.now();
  const since = new Date();
  for (const { questions } of setup.nodes) questions.forget();
  await forgetBackup(setup.service.db);
  const chance = createChance(seed);
  const isWithRelease = chance.below(releaseOneOf) === 0;
  const release = isWithRelease ? lastRelease : undefined;
  const network = await makeNetwork(setup, chance, { onlySound: isWithRelease });
  const ids = await setup.accept(1 + chance.below(6));
  const scene: Scene = { setup, chance, network, ids, release };
  const done = await goWrong(scene);
  const settling = performance.now();
  await setRight(scene);
  setup.work();
  const underWay = await judgeUnderWay(scene);
  network.setRight();
  const end = await setup.judge(ids, since, release === undefined);
  const found = [...underWay.found, ...end.found];
  const state = found.length > 0 ? await setup.describe(ids) : undefined;
  await setup.killAll();
  await network.close();
  const ended = performance.now();
  return {
    nodes: network.names,
    release: release !== undefined,
    done,
    found,
    noted: [...underWay.noted, ...end.noted],
    reasons: underWay.reasons,
    questions: Math.max(...setup.nodes.map(({ questions }) => questions.mostPerBlock())),
    nfts: ids.length,
    ms: { faults: Math.round(settling - begun), settling: Math.round(ended - settling) },
    state,
  };
}

/** Lets a few things go wrong, one after the other. @returns what was done */
async function goWrong(scene: Scene): Promise<string[]> {
  const { setup, chance } = scene;
  setup.work(undefined, { MINT_STUCK_BLOCKS: '2' });
  const mining = setup.keepMining(100 + chance.below(300));
  const done: string[] = [];
  const length = 4 + chance.below(10);
  for (let index = 0; index < length; index += 1) {
    done.push(await chance.of(faultKinds(scene))(scene));
    await pause(chance.below(300));
  }
  mining.stop();
  // Those that still run go on, or the next begins after a crash of all.
  if (chance.below(2) === 0) await setup.killAll();
  return done;
}

/** With nodes as they are for good: everything is minted where it must be, else minted or given a reason. */
async function judgeUnderWay({ setup, network, ids }: Scene) {
  if (network.names.every((name) => name === 'sound')) return { found: [], noted: [], reasons: [] };
  if (network.mustMint) return { found: await setup.progress(ids), noted: [], reasons: [] };
  const { silent, untrue, reasons } = await setup.reasons(ids);
  const judged = sortFound([
    { name: 'rows', needs: [], found: untrue },
    { name: 'reasons', needs: ['reasons'], found: silent },
  ]);
  return { ...judged, reasons };
}
