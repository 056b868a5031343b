import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../../load/answers.ts';
import type { SteadyLoad } from '../../load/steady-load.ts';
import { startUsualLoad } from '../../load/usual-load.ts';
import { watchBackground } from './background.ts';
import type { Fault, Stage } from './fault.ts';
import { isSettled, mostOf, watchPeak } from './figures.ts';
import { leftBehind } from './left-behind.ts';
import { judge, type Outcome } from './outcome.ts';

const quietMs = 3_000;
/** Where the quiet time is what the rest is measured by. */
const longQuietMs = 25_000;
/** The first requests find code that is not compiled yet. */
const warmUpMs = 1_000;
const longWarmUpMs = 5_000;
/** Without a failure for so long, the service has recovered. */
const calmMs = 4_000;
const patienceMs = 40_000;
/** After an attack, memory and descriptors are back to where they were by then. */
const settleMs = 30_000;

export type RunOptions = {
  readonly perSecond: number;
  /** Further work in quiet, before the fault. */
  readonly inQuiet?: () => Promise<void>;
};

/** Lets a fault happen under load, and judges what came of it. */
export async function runFault(fault: Fault, stage: Stage, options: RunOptions): Promise<Outcome> {
  await stage.service.change(fault.change?.(stage));
  const happened = await happen(fault, stage, options);
  const left = await leftBehind(stage, happened.aftermath);
  const { service } = stage;
  service.dropIdle();
  const deadline = performance.now() + settleMs;
  let after = mostOf(service.apis());
  while (!isSettled(happened.before, after) && performance.now() < deadline) {
    await pause(500);
    after = mostOf(service.apis());
  }
  return judge({ fault, ...happened, ...left, after });
}

/** The fault under load, until the service is as before. A fault that breaks off leaves no load behind. */
async function happen(fault: Fault, stage: Stage, { perSecond, inQuiet }: RunOptions) {
  const { service, world, ledger } = stage;
  await using opened = new AsyncDisposableStack();
  const clean = await fault.prepare?.(stage);
  if (clean) opened.defer(clean);
  const isMeasured = fault.neighbour !== undefined;
  if (isMeasured) opened.defer(beQuick());
  const usual = { port: service.port, world, ledger, perSecond, isHosted: true };
  const load = opened.adopt(startUsualLoad(usual), (running) => running.stop());
  const loaded = performance.now();
  await Promise.all([pause(isMeasured ? longQuietMs : quietMs), inQuiet?.()]);
  const before = mostOf(service.apis());
  // Requests that were sent before are answered without the fault.
  await load.untilAnswered();
  const endPeak = watchPeak(service.apis);
  opened.defer(() => void endPeak());
  const begun = performance.now();
  const end = await fault.begin(stage);
  await pause(fault.seconds * 1_000);
  const aftermath = await end();
  const peak = endPeak();
  const since = fault.isLasting ? begun : (aftermath.endedAt ?? performance.now());
  const [recoveredMs, background] = await Promise.all([untilCalm(load, since), watchBackground(stage)]);
  await load.stop();
  const answers = load.answers.filter(({ at }) => at >= begun);
  const warm = loaded + (isMeasured ? longWarmUpMs : warmUpMs);
  const quiet = load.answers.filter(({ at }) => at < begun && at > warm);
  return { answers, quiet, before, peak, recoveredMs, background, aftermath };
}

/**
 * Lets this process wait for no core where it may (as root), while the time of answers is taken: elsewhere who calls, and what
 * stands between callers, service and database, has machines of its own. @returns what ends it
 */
function beQuick(): () => void {
  const usual = getPriority();
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
  } catch {
    // It waits as all others do, which counts as waiting for the service.
  }
  return () => setPriority(usual);
}

/** @returns milliseconds from the moment to the last request that was not served; undefined when it never was */
async function untilCalm(load: SteadyLoad, since: number): Promise<number | undefined> {
  const isFailure = ({ class: found }: Answer) => found !== 'ok';
  const deadline = performance.now() + patienceMs;
  for (;;) {
    await pause(250);
    const now = performance.now();
    const lastFailure = Math.max(since, ...load.answers.filter(isFailure).map(({ at }) => at));
    const oldestPending = Math.max(0, ...load.pending().map((at) => now - at));
    if (now - lastFailure >= calmMs && oldestPending < calmMs) return lastFailure - since;
    if (now > deadline) return undefined;
  }
}
