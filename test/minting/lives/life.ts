import { setTimeout as wait } from 'node:timers/promises';
import { createChance } from '../chance.ts';
import { blockMs, finalityDepth } from './constants.ts';
import type { LivesDatabase } from './database.ts';
import { faults } from './faults.ts';
import { judge, silent } from './judge.ts';
import {
  followRemedies,
  fund,
  grant,
  recover,
  repairNodes,
  restartWorkers,
  resume,
  retryFailed,
} from './operator.ts';
import type { Plan } from './plan.ts';
import type { VirtualTime } from './virtual.ts';
import { createWorld, feeCap, type World } from './world.ts';

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
  world.state.blockMs = calmBlockMs;
  const underWay = await untilReasons(world, reasons);
  await settle(world, reasons);
  return [...underWay, ...(await judge(world))];
}

// Nothing happens any more, so that fewer polls see the same.
const calmBlockMs = blockMs / 2;
/** How long an operator waits, and how long nodes stay as they are. What is silent shows after the longer time only. */
function patienceOf({ seed }: Plan) {
  const eighth = Math.floor(seed / 2) % 8;
  return { firstMs: eighth === 0 ? 180_000 : 20_000, quietMs: eighth < 2 ? 250_000 : 80_000 };
}

// Remedies take as long to show.
const remedyMs = 30_000;

/** What is done is final: no transaction is left that ends when the newest blocks are replaced. */
function replaceNewest({ chain, plan, state, tell }: World): void {
  if (plan.seed % 2 === 0) return;
  state.isReplaced = true;
  chain.reorganise(finalityDepth, Math.floor(Date.now() / 1_000), false);
  tell(`reorganise ${finalityDepth}, and nobody keeps the transactions`);
}

/** With nodes as they are: what stands has a reason. Its remedy is done. */
async function untilReasons(world: World, reasons: Set<string>): Promise<string[]> {
  const { firstMs, quietMs } = patienceOf(world.plan);
  const end = world.seconds() + quietMs / 1_000;
  let next = world.seconds() + firstMs / 1_000;
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
  const before = await silent(world);
  if (before.length === 0) return [];
  // A reason may just have ended.
  await wait(100_000);
  return (await silent(world)).filter((text) => before.includes(text));
}

// Whoever waits for a nonce of somebody else, and starts again meanwhile, needs minutes.
const mostRounds = 60;

/** With everything sound: all that was accepted comes to its end. */
async function settle(world: World, reasons: Set<string>): Promise<void> {
  world.tell('everything is sound');
  repairNodes(world);
  fund(world);
  // Gas may stay dear, as long as it is affordable.
  if (world.chain.baseFee() > feeCap / 2n) world.chain.setBaseFee(10n ** 9n);
  world.chain.change((state) => ({ ...state, isReverting: false }));
  world.state.isMining = true;
  world.state.isLeftOut = false;
  for (const worker of world.workers) {
    worker.process.thaw();
    worker.ambush = undefined;
  }
  if (world.workers.length === 0) await world.startWorker();
  await resume(world);
  await grant(world);
  // Where nothing is to be sent, no lane says so.
  if (world.state.hasRolledBack) await recover(world);
  if ((await isDone(world)) && (await countFailed(world)) === 0) return untilRead(world);
  await wait(2 * blockMs);
  await retryFailed(world);
  for (let round = 0; round < mostRounds && !(await isDone(world)); round += 1) {
    await wait(blockMs);
    if (round % 5 === 4) for (const reason of await followRemedies(world)) reasons.add(reason);
    // A lane that could not report changed metadata lets reports rest for an hour.
    if (round % 30 === 29 && (await isReportDue(world))) await restartWorkers(world);
  }
  await untilRead(world);
}

/**
 * Waits until the reader has come to the last block with transfers, snapshots are taken, everything has its number, and no lane says
 * any more why it waits.
 */
async function untilRead({ db, chain, read, signers, state }: World): Promise<void> {
  const replaced = state.isReplaced ? chain.head().number : 0;
  const isOfOthers = (from: string) => !signers.some((signer) => signer.toLowerCase() === from);
  for (let round = 0; round < mostRounds; round += 1) {
    const last =
      chain.blocks.findLast(({ mined }) => mined.some(({ logs }) => logs.length > 0))?.number ?? replaced;
    const { rows } = await db.raw(
      `SELECT (SELECT number FROM nft_ledgers LIMIT 1) AS number,
         EXISTS (SELECT FROM news WHERE position IS NULL) OR EXISTS (SELECT FROM ownership_snapshots WHERE taken_at IS NULL)
         OR EXISTS (SELECT FROM mint_lanes WHERE pause_reason IS NOT NULL) AS "isOpen"`,
    );
    const [{ number, isOpen }] = rows;
    const isMoving = [...chain.pool.values()].some(({ from }) => isOfOthers(from));
    const isRead = last === 0 || (number !== null && Number(number) >= Math.max(last, replaced));
    if (isRead && !isMoving && !isOpen) return;
    read();
    await wait(blockMs);
  }
}

async function isReportDue({ db }: World): Promise<boolean> {
  return (await db('rwas').whereNotNull('metadata_changed_at').first()) !== undefined;
}

async function countFailed({ db }: World): Promise<number> {
  const [row] = await db('nfts').where({ mint_state: 'failed' }).count();
  return Number(row?.['count']);
}

/** Whether nothing is under way any more. */
async function isDone({ db }: World): Promise<boolean> {
  const { rows } = await db.raw(
    `SELECT EXISTS (SELECT FROM nfts WHERE mint_state IN ('queued', 'submitted'))
       OR EXISTS (SELECT FROM mint_transactions WHERE state IN ('submitted', 'confirmed'))
       OR EXISTS (SELECT FROM mint_unproven_transactions) OR EXISTS (SELECT FROM mint_recoveries)
       OR EXISTS (SELECT FROM rwas WHERE metadata_changed_at IS NOT NULL) AS "isOpen"`,
  );
  return rows[0]?.isOpen === false;
}
