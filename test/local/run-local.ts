import { createLogger } from '../../src/base/log.ts';
import { startLocal } from '../../src/local/start-local.ts';

/** The local world without the service: `run-local.ts <directory> [--fresh]`. Ends on SIGINT and SIGTERM. */
const [directory = '.', flag] = process.argv.slice(2);
const say = (event: string, more: object = {}) =>
  process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);

try {
  const local = await startLocal({
    fresh: flag === '--fresh',
    directory,
    env: process.env,
    log: createLogger({ level: 'silent' }),
    print: (line) => say('line', { line }),
  });
  local.keep();
  const stop = () => local.stop().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  void local.failed.then(({ message }) => say('failed', { message }));
  say('ready', { banner: local.banner, config: { ...local.config, SECRET_KEYS: undefined } });
} catch (error) {
  say('refused', { message: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
