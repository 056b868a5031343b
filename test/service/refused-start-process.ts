import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startService } from '../../src/service/service.ts';

// Starts the service in several ways and, when it is refused, ends nothing: what a refused start leaves open keeps
// this process alive.

/** What its parent gives it, in a list, as its only argument. */
export type RefusedTask = {
  readonly settings: Readonly<Record<string, string>>;
  readonly signers: readonly { readonly chainId: string; readonly privateKey: string }[];
};

const tasks: RefusedTask[] = JSON.parse(process.argv[2] ?? '[]');
for (const { settings, signers } of tasks) {
  try {
    await startService(loadConfig(settings), createLogger({ level: 'silent' }), { plainSigners: signers });
    process.stdout.write('started\n');
  } catch (error) {
    process.stdout.write(`refused: ${error instanceof Error ? error.message : error}\n`);
  }
}
process.stdout.write('all were refused\n');
