import { forgetBackup } from '../support/backup.ts';
import { strain } from '../support/strain.ts';
import { createChance } from './chance.ts';
import { setClocks } from './clock-faults.ts';
import { endDelegations } from './delegation-faults.ts';
import { changeMetadata, endLies, faultKinds, readCodes } from './fault-kinds.ts';
import type { Scene } from './fault-scene.ts';
import type { MintSetup } from './mint-setup.ts';
import { makeNetwork } from './node-qualities.ts';
import { doRemedies, setRight } from './operator.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// One sequence in so many has workers of the oldest release, too.
const releaseOneOf = 8;

/**
 * Accepts mints on a network whose nodes are what the seed says, and lets go wrong what it says. Then ends what was for
 * a time, and does what the remedies of the reasons say until nothing waits; last makes all nodes sound, and judges the end.
 * @param oldestRelease the folder with the files of the oldest release
 */
export async function runSequence(setup: MintSetup, seed: number, oldestRelease?: string) {
  const begun = performance.now();
  const since = new Date();
  for (const { questions } of setup.nodes) questions.forget();
  await forgetBackup(setup.service.db);
  await setup.service.db('networks').update({ min_tip: '0' });
  await setClocks(setup, { chain: 0, rows: 0 });
  await endDelegations(setup);
  const chance = createChance(seed);
  const isWithRelease = chance.below(releaseOneOf) === 0;
  const release = isWithRelease ? oldestRelease : undefined;
  const base = BigInt(await setup.chain.call<string>('eth_blockNumber'));
  const codes = await readCodes(setup.chain);
  const network = await makeNetwork(setup, chance, { onlySound: isWithRelease });
  const ids = await setup.accept(1 + chance.below(6));
  const happened = { hasLostBlocks: false, hasOddContract: false };
  const scene: Scene = { setup, chance, network, ids, release, base, codes, happened };
  const done = await goWrong(scene);
  const settling = performance.now();
  await endForNow(scene);
  const underWay = await judgeUnderWay(scene);
  const wrong = await setRight(scene);
  await endRests(scene);
  const isOurs = release === undefined;
  const end = await setup.settle(ids, { since, isPriceJudged: isOurs, isConductJudged: isOurs });
  const found = [...underWay.found, ...wrong, ...end.filter((text) => !isOfGenerous(text))];
  const state = found.length > 0 ? await setup.describe(ids) : undefined;
  await setup.killAll();
  await network.close();
  const ended = performance.now();
  return {
    nodes: network.names,
    release: release !== undefined,
    done,
    found,
    reasons: underWay.reasons,
    questions: Math.max(...setup.nodes.map(({ questions }) => questions.mostPerBlock())),
    nfts: ids.length,
    ms: { faults: Math.round(settling - begun), settling: Math.round(ended - settling) },
    state,
  };
}

// Only a contract that mints more than it is asked for does so.
const isOfGenerous = (text: string) => /^token \d+ extra_token:/.test(text);

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

/** Ends what was for a time. What workers share between them suffices for one of them. */
async function endForNow(scene: Scene): Promise<void> {
  const { setup, network, release } = scene;
  endLies(network);
  if (network.isSlow) await setup.killAll();
  for (const { child } of setup.running()) child.kill('SIGCONT');
  setup.work();
  if (release !== undefined) await setRight(scene);
}

/**
 * Contracts that rejected or reverted a report of changed metadata rest for up to an hour, in the memory of a worker. One that
 * took anything did not report what it was asked to.
 */
async function endRests(scene: Scene): Promise<void> {
  if (scene.happened.hasOddContract) await changeMetadata(scene);
  const due = await scene.setup.service.db('rwas').whereNotNull('metadata_changed_at').first();
  if (due !== undefined) await scene.setup.killAll();
}

/** Whether a search of the chain goes on to its end: fewer parts were asked for than the chain has blocks. */
async function maySearch({ chain, nodes }: MintSetup): Promise<boolean> {
  const asked = nodes.map(({ questions }) => questions.byMethod().get('eth_getLogs') ?? 0);
  return asked.reduce((sum, count) => sum + count, 0) < Number(await chain.call('eth_blockNumber'));
}

/**
 * With nodes as they are for good: what stands has a reason, and the remedy of the reason ends it. Where a node suffices,
 * no other nodes are needed for that.
 */
async function judgeUnderWay(scene: Scene) {
  const { setup, network, ids } = scene;
  const seen = new Set<string>();
  const soon = () => performance.now() + network.seconds * strain() * 1_000;
  let deadline = soon();
  for (;;) {
    const { moving, silent, untrue, reasons } = await setup.reasons(ids);
    for (const reason of reasons) seen.add(reason);
    const unknown = await doRemedies(scene, reasons);
    // It takes as long as the chain is.
    if (reasons.includes('history_searched') && (await maySearch(setup))) deadline = soon();
    const isOver = performance.now() > deadline;
    const found = [
      // Where a poll takes many seconds, nothing moves for as long.
      ...(network.isSlow && !isOver ? [] : silent),
      ...untrue,
      // A lane of a test says so after seconds. Slow nodes show the reason later than that.
      ...unknown.flatMap((reason) =>
        reason === 'unexplained' && !isOver ? [] : `the reason ${reason} has no remedy that works`,
      ),
    ];
    const isEnd = moving + silent.length + reasons.length === 0;
    if (isOver && !isEnd) found.push(`not minted, for ${reasons.join(', ')}, though the remedies were done`);
    if (found.length > 0 || isEnd) return { found, reasons: [...seen] };
  }
}
