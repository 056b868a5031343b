import { setTimeout as wait } from 'node:timers/promises';
import { createChance } from '../chance.ts';
import { blockMs, finalityDepth } from './constants.ts';
import type { LivesDatabase } from './database.ts';
import { faults } from './faults.ts';
import { judge, silent } from './judge.ts';
import { followRemedies, fund, grant, repairNodes, resume, retryFailed } from './operator.ts';
import type { Plan } from './plan.ts';
import type { VirtualTime } from './virtual.ts';
import { createWorld, type World } from './world.ts';

export type Lived = {
  /** What is wrong, in words. */
  readonly found: readonly string[];
  readonly log: readonly string[];
  /** Virtual milliseconds. */
  readonly ms: number;
  readonly nfts: number;
  readonly reasons: readonly string[];
};

/** Longer than any life takes that does not hang. */
const longestMs = 6 * 3_600_000;

/** Lives a life. */
export async function live(plan: Plan, database: LivesDatabase, time: VirtualTime): Promise<Lived> {
  time.begin(plan.seed);
  await database.begin(plan.seed);
  const log: string[] = [];
  const tell = (text: string) => void log.push(text);
  const seen = { found: [] as string[], nfts: 0, reasons: new Set<string>(), isOver: false };
  const run = async () => {
    const world = await createWorld({ plan, database, now: time.now, tell });
    seen.found.push(...(await liveIn(world, seen.reasons)));
    seen.nfts = world.accepted.size;
    await world.close();
  };
  run()
    .catch((error: unknown) => {
      seen.found.push(`the life broke: ${error instanceof Error ? error.stack : error}`);
    })
    .finally(() => {
      seen.isOver = true;
    });
  const isOver = await time.until(() => seen.isOver, longestMs);
  if (!isOver) seen.found.push('the life hangs');
  for (const text of seen.found) tell(`WRONG ${text}`);
  return { found: seen.found, log, ms: time.now(), nfts: seen.nfts, reasons: [...seen.reasons].sort() };
}

async function liveIn(world: World, reasons: Set<string>): Promise<string[]> {
  const { plan } = world;
  world.tell(`nodes: ${plan.nodes.map(({ quality, ms }) => `${quality} ${ms} ms`).join(', ')}`);
  for (const skew of plan.workers) await world.startWorker(skew);
  // There is a backup of the beginning wherever a backup is to be restored.
  if (plan.events.some(({ kind }) => kind === 'restore')) await world.database.backUp();
  for (const { after, kind, draw } of plan.events) {
    await wait(after);
    const words = await faults[kind]?.happen(world, createChance(draw));
    world.tell(words ?? kind);
    if (world.workers.length === 0) await world.startWorker();
  }
  const underWay = await untilReasons(world, reasons);
  await settle(world, reasons);
  return [...underWay, ...(await judge(world))];
}

const quietMs = 250_000;
// Remedies take as long to show.
const remedyMs = 45_000;

/** What is done is final: no transaction is left that ends when the newest blocks are replaced. */
function replaceNewest({ chain, plan, state, tell }: World): void {
  if (plan.seed % 2 === 0) return;
  state.isReplaced = true;
  chain.reorganise(finalityDepth, Math.floor(Date.now() / 1_000), false);
  tell(`reorganise ${finalityDepth}, and nobody keeps the transactions`);
}

/** With nodes as they are: what stands has a reason. Its remedy is done. */
async function untilReasons(world: World, reasons: Set<string>): Promise<string[]> {
  const [begun, end] = [world.seconds(), world.seconds() + quietMs / 1_000];
  let next = begun + 30;
  while (world.seconds() < end) {
    await wait(blockMs);
    if (await isDone(world)) {
      replaceNewest(world);
      return [];
    }
    if (world.seconds() < next) continue;
    for (const reason of await followRemedies(world)) reasons.add(reason);
    next = world.seconds() + remedyMs / 1_000;
  }
  return silent(world);
}

const mostRounds = 30;

/** With everything sound: all that was accepted comes to its end. */
async function settle(world: World, reasons: Set<string>): Promise<void> {
  world.tell('everything is sound');
  repairNodes(world);
  fund(world);
  world.chain.setBaseFee(10n ** 9n);
  world.state.isMining = true;
  for (const { process } of world.workers) process.thaw();
  if (world.workers.length === 0) await world.startWorker();
  await resume(world);
  await grant(world);
  if ((await isDone(world)) && (await countFailed(world)) === 0) return untilRead(world);
  await wait(2 * blockMs);
  await retryFailed(world);
  for (let round = 0; round < mostRounds && !(await isDone(world)); round += 1) {
    await wait(blockMs);
    if (round % 5 === 4) for (const reason of await followRemedies(world)) reasons.add(reason);
  }
  await untilRead(world);
}

/** Waits until the reader has come to the last block with transfers, and everything has its number. */
async function untilRead({ db, chain, signers, state }: World): Promise<void> {
  const replaced = state.isReplaced ? chain.head().number : 0;
  const isOfOthers = (from: string) => !signers.some((signer) => signer.toLowerCase() === from);
  for (let round = 0; round < mostRounds; round += 1) {
    if (round > 0) await wait(blockMs);
    const last =
      chain.blocks.findLast(({ mined }) => mined.some(({ logs }) => logs.length > 0))?.number ?? replaced;
    const [ledger] = await db('nft_ledgers');
    const unnumbered = await db('news').whereNull('position').limit(1);
    const isMoving = [...chain.pool.values()].some(({ from }) => isOfOthers(from));
    const isRead = last === 0 || (ledger !== undefined && Number(ledger.number) >= Math.max(last, replaced));
    if (isRead && !isMoving && unnumbered.length === 0) return;
  }
}

async function countFailed({ db }: World): Promise<number> {
  const [row] = await db('nfts').where({ mint_state: 'failed' }).count();
  return Number(row?.['count']);
}

/** Whether nothing is under way any more. */
async function isDone({ db }: World): Promise<boolean> {
  const { rows } = await db.raw(
    `SELECT (SELECT count(*) FROM nfts WHERE mint_state IN ('queued', 'submitted'))
       + (SELECT count(*) FROM mint_transactions WHERE state IN ('submitted', 'confirmed'))
       + (SELECT count(*) FROM mint_unproven_transactions) + (SELECT count(*) FROM mint_recoveries)
       + (SELECT count(*) FROM rwas WHERE metadata_changed_at IS NOT NULL) AS count`,
  );
  return Number(rows[0]?.count) === 0;
}
