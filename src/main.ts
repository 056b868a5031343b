import { parseArgs } from 'node:util';
import { ConfigError, loadConfig } from './config.ts';
import { createLogger } from './log.ts';
import { startService } from './service.ts';

const help = `Usage: npm start [-- --fresh]   a complete local service with a sample world, under .local/
       npm run serve           the service over the database of DATABASE_URL

  --local   start a PostgreSQL and a chain under .local/ and serve the sample world
  --fresh   with --local: delete that world and begin anew
  --trace   show where an error came from
  --help    this text
`;

type Run = {
  stop(): Promise<void>;
  /** Settles with what makes going on impossible. */
  readonly failed: Promise<Error>;
};

async function serve(): Promise<Run> {
  const config = loadConfig();
  const service = await startService(config, createLogger({ level: config.LOG_LEVEL }));
  return { stop: service.stop, failed: new Promise(() => {}) };
}

/** The whole service with its own database and chain. Development only, so it is loaded only here. */
async function serveLocal(fresh: boolean): Promise<Run> {
  const [{ startLocal }, { preparePortal }, { untilIndexed }] = await Promise.all([
    import('./local/start-local.ts'),
    import('./local/prepare-portal.ts'),
    import('./local/until-indexed.ts'),
  ]);
  // People read this terminal: requests are logged when they ask for it.
  const env = { LOG_LEVEL: 'warn', ...process.env };
  const log = createLogger({ level: env.LOG_LEVEL });
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const [local] = await Promise.all([
    startLocal({ fresh, directory: process.cwd(), env, log, print }),
    preparePortal(log),
  ]);
  try {
    const service = await startService(local.config, log, { plainSigners: [local.signer] });
    const isIndexed = await untilIndexed(local.config, local.credentials, log);
    if (!isIndexed) print('The index of the chain is still catching up.');
    print(local.banner);
    const stop = async () => {
      await service.stop();
      await local.stop();
    };
    return { stop, failed: local.failed };
  } catch (error) {
    await local.stop();
    throw error;
  }
}

/** Stops on SIGINT and SIGTERM, once; a second signal ends the process at once. */
function stopInOrder({ stop, failed }: Run): void {
  let stopping = false;
  const end = (exitCode: number) => {
    if (stopping) process.exit(1);
    stopping = true;
    stop().then(() => process.exit(exitCode), fail);
  };
  process.on('SIGINT', () => end(0));
  process.on('SIGTERM', () => end(0));
  failed.then((error) => {
    if (stopping) return;
    process.stderr.write(`tallystick: ${error.message}\n`);
    end(1);
  });
}

/** Says what went wrong in words; where it came from is shown on request. */
function fail(error: unknown): never {
  const isTraced = process.argv.includes('--trace') || !(error instanceof Error) || error.message === '';
  const text =
    error instanceof Error && !isTraced
      ? error.message
      : error instanceof Error
        ? error.stack
        : String(error);
  process.stderr.write(`tallystick: ${text}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}

const { values: options } = parseArgs({
  options: {
    local: { type: 'boolean' },
    fresh: { type: 'boolean', default: false },
    trace: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(help);
} else {
  await (options.local ? serveLocal(options.fresh) : serve()).then(stopInOrder, fail);
}
