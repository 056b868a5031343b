import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { neighbourFaults } from '../faults/service/cases/neighbours.ts';
import { runFault } from '../faults/service/run-fault.ts';
import { openStage } from '../faults/service/stage.ts';
import { areHeld, below, type Limit } from './limits.ts';
import { rounded, type Suite } from './suite.ts';

const mostRatio = 3;
const perSecond = 40;

type Held = Limit & {
  readonly quietMs: number;
  readonly duringMs: number;
  /** Requests of the neighbour that were not served. */
  readonly failed: number;
  /** What else the fault has broken. */
  readonly violations: readonly string[];
};

export const neighboursSuite: Suite = {
  about:
    'What a company waits while another one asks for too much, against the quiet before; about 4 minutes',
  async run({ isQuick, say }) {
    const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-neighbours-'));
    await using opened = new AsyncDisposableStack();
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const stage = await openStage(folder, opened);
    const limits: Record<string, Held> = {};
    for (const fault of isQuick ? neighbourFaults.slice(0, 1) : neighbourFaults) {
      const { neighbour, violations } = await runFault(fault, stage, { perSecond, say: () => {} });
      if (neighbour === undefined) throw new Error(`${fault.name} has no neighbour.`);
      const { quietMs, duringMs, failed } = neighbour;
      const value = rounded(duringMs / quietMs);
      say(`${fault.name}: p99 ${Math.round(quietMs)} to ${Math.round(duringMs)} ms, ${failed} not served`);
      const limit = below(value, mostRatio);
      const ok = limit.ok && failed === 0;
      limits[fault.name] = { ...limit, ok, quietMs, duringMs, failed, violations };
    }
    return { ok: areHeld(limits), limits };
  },
};
