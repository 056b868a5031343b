import { parseArgs } from 'node:util';
import { ConfigError, loadConfig } from './config.ts';
import { createLogger } from './log.ts';
import { startService } from './service.ts';

const help = `Usage: npm start [-- --fresh]        a complete local service with a sample world
       npm run serve                the service over DATABASE_URL

  --local   start a PostgreSQL and a chain under .local/ and make the sample world
  --fresh   with --local: delete that world and begin anew
  --help    this text
`;

type Run = { stop(): Promise<void> };

async function serve(): Promise<Run> {
  const config = loadConfig();
  return startService(config, createLogger({ level: config.LOG_LEVEL }));
}

/** Stops on SIGINT and SIGTERM, once; a second signal ends the process at once. */
function stopOnSignal(run: Run): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    run.stop().then(
      () => process.exit(0),
      (error) => fail(error, signal),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

function fail(error: unknown, during = 'start'): never {
  const known = error instanceof ConfigError || (error instanceof Error && 'explains' in error);
  const text =
    error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`tallystick: cannot ${during}: ${text}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}

const { values: options } = parseArgs({
  options: { local: { type: 'boolean' }, fresh: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
if (options.help) {
  process.stdout.write(help);
} else {
  await serve().then(stopOnSignal, (error) => fail(error));
}
