import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startService } from '../../src/service/service.ts';

// Starts the service and, when it is refused, ends nothing: what a refused start leaves open keeps this
// process alive.

/** What its parent gives it as its only argument. */
export type RefusedTask = {
  readonly settings: Readonly<Record<string, string>>;
  readonly signers: readonly { readonly chainId: string; readonly privateKey: string }[];
};

const task: RefusedTask = JSON.parse(process.argv[2] ?? '{}');
try {
  await startService(loadConfig(task.settings), createLogger({ level: 'silent' }), {
    plainSigners: task.signers,
  });
  process.stdout.write('started\n');
} catch (error) {
  process.stdout.write(`refused: ${error instanceof Error ? error.message : error}\n`);
}
