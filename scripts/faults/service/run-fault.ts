import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, commonDetails } from '../../load/answers.ts';
import type { SteadyLoad } from '../../load/steady-load.ts';
import { watchBackground } from './background.ts';
import type { Fault, Stage } from './fault.ts';
import { watchHealth } from './health-times.ts';
import { leftBehind } from './left-behind.ts';
import { type Figures, isSettled, mostOf, watchPeak } from './process-figures.ts';
import { deadlineMs, startUsualLoad } from './usual-load.ts';
import { judge, type Outcome } from './verdict.ts';

const quietMs = 3_000;
/** Where the quiet time is what the rest is measured by. */
const longQuietMs = 25_000;
/** What comes first finds code that is not compiled yet. */
const warmUpMs = 1_000;
const longWarmUpMs = 5_000;
/** Without a failure for so long, the service has recovered. */
const calmMs = 4_000;
const patienceMs = 40_000;
/** After an attack, memory and descriptors are back to where they were by then. */
const settleMs = 30_000;

export type RunOptions = { readonly perSecond: number; readonly say: (line: string) => void };

/** Lets a fault happen under load, and judges what came of it. */
export async function runFault(fault: Fault, stage: Stage, { perSecond, say }: RunOptions): Promise<Outcome> {
  await stage.service.change(fault.change?.(stage) ?? {});
  const happened = await happen(fault, stage, perSecond);
  say(`  ${commonDetails(happened.answers, 4).join('\n  ')}`);
  const left = await leftBehind(stage, happened.aftermath);
  const after = await untilSettled(stage, happened.before);
  return judge({ fault, deadlineMs, ...happened, ...left, after });
}

/**
 * Waits while the time of answers is taken. Elsewhere who calls, and what stands between callers, service and database, has
 * machines of its own: where it may (as root), this process waits for no core meanwhile, and where sessions share the cores it
 * has a share that no other process of the run takes from. What it starts would inherit the priority.
 */
async function measure(ms: number): Promise<void> {
  const usual = getPriority();
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
  } catch {
    // It waits as all others do, which counts as waiting for the service.
  }
  await pause(ms);
  setPriority(usual);
}

/** The fault under load, until the service is as before. A fault that breaks off leaves no load behind. */
async function happen(fault: Fault, stage: Stage, perSecond: number) {
  await using opened = new AsyncDisposableStack();
  const clean = await fault.prepare?.(stage);
  if (clean) opened.defer(clean);
  const load = opened.adopt(startUsualLoad(stage, perSecond), (running) => running.stop());
  const loaded = performance.now();
  const isMeasured = fault.neighbour !== undefined;
  await (isMeasured ? measure(longQuietMs) : pause(quietMs));
  const before = mostOf(stage.service.apis());
  const quietEnded = performance.now();
  await fault.arrange?.(stage);
  const endPeak = watchPeak(stage.service.apis);
  opened.defer(() => void endPeak());
  const begun = performance.now();
  const endHealth = isMeasured ? watchHealth(stage) : async () => [];
  opened.defer(async () => void (await endHealth()));
  const end = await fault.begin(stage);
  await (isMeasured ? measure : pause)(fault.seconds * 1_000);
  const faultEndedAt = performance.now();
  // What is asked afterwards is not asked during the fault.
  const [health, aftermath] = await Promise.all([endHealth(), end()]);
  const peak = endPeak();
  const since = fault.isLasting ? begun : (aftermath.endedAt ?? performance.now());
  const [recoveredMs, background] = await Promise.all([untilCalm(load, since), watchBackground(stage)]);
  await load.stop();
  const answers = load.answers.filter(({ at }) => at >= begun);
  const warm = loaded + (isMeasured ? longWarmUpMs : warmUpMs);
  const quiet = load.answers.filter(({ at }) => at < quietEnded && at > warm);
  return { answers, quiet, health, before, peak, faultEndedAt, recoveredMs, background, aftermath };
}

/** What the replicas hold, as soon as it is what they held before, or when the time for that is over. */
async function untilSettled({ service }: Stage, before: Figures): Promise<Figures> {
  const deadline = performance.now() + settleMs;
  service.dropIdle();
  for (;;) {
    const now = mostOf(service.apis());
    if (isSettled(before, now) || performance.now() > deadline) return now;
    await pause(500);
  }
}

/** @returns milliseconds from the moment to the last request that was not served; undefined when it never was */
async function untilCalm(load: SteadyLoad, since: number): Promise<number | undefined> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    await pause(250);
    const now = performance.now();
    const lastFailure = Math.max(since, ...load.answers.filter(isFailure).map(({ at }) => at));
    if (now - lastFailure >= calmMs && oldestPending(load, now) < calmMs) return lastFailure - since;
    if (now > deadline) return undefined;
  }
}

const isFailure = ({ class: found }: Answer) => found !== 'ok';
const oldestPending = ({ pending }: SteadyLoad, now: number) =>
  Math.max(0, ...pending().map((at) => now - at));
