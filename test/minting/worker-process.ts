import { createLogger } from '../../src/base/log.ts';
import { createParts } from '../../src/compose/parts.ts';
import { createMinter } from '../../src/compose/worker.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { FixedValues } from '../../src/config/fixed-values.ts';
import type { MintStep } from '../../src/rwa/mint-worker/context/lane-context.ts';

// A worker of its own, as in production, but that it can be told to kill itself: at the nth time that it
// takes a step, in the middle of whatever it does then.

/** What its parent gives it as its only argument. */
export type WorkerTask = {
  readonly settings: Readonly<Record<string, string>>;
  readonly fixed?: Partial<FixedValues>;
  readonly signers: readonly { readonly chainId: string; readonly privateKey: string }[];
  readonly killAt?: { readonly step: MintStep; readonly times: number };
};

const task: WorkerTask = JSON.parse(process.argv[2] ?? '{}');
const config = loadConfig(task.settings, task.fixed);
const opened = new AsyncDisposableStack();
const parts = await createParts(config, createLogger({ level: config.LOG_LEVEL }), opened);
let left = task.killAt?.times ?? 0;
const minter = createMinter(parts, {
  plainSigners: task.signers,
  step(step) {
    if (step !== task.killAt?.step) return;
    left -= 1;
    if (left <= 0) process.kill(process.pid, 'SIGKILL');
  },
});
await minter.start();
await parts.jobs.work({ scheduled: [], keyed: [minter.job] });
process.stdout.write('working\n');

process.once('SIGTERM', async () => {
  await Promise.all([parts.jobs.stop(5_000), minter.stop()]);
  await opened.disposeAsync();
});
