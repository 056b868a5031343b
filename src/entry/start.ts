import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import packageFile from '../../package.json' with { type: 'json' };
import { createLogger, type Logger, type LoggerOptions } from '../base/log.ts';
import { createLogLines } from '../base/log-lines.ts';
import { errorText } from '../base/thrown.ts';
import { explainDatabase } from '../cli/shared/database-failure.ts';
import { closingHint, findOpenFiles } from '../compose/open-files.ts';
import { reasonsOf } from '../compose/shutdown.ts';
import { ConfigError, loadConfig } from '../config/config.ts';
import { gatherSettings, settingsFileVariable } from '../config/settings-file.ts';
import { openSecretSettings, secretTexts } from '../service/secret-settings.ts';
import { startService } from '../service/service.ts';

const help = `Usage: npm start [-- --fresh]   a complete local service with a sample world, under .local/
       npm run serve           the service over the database of DATABASE_URL

  --settings FILE   settings file; by default the one that TALLYSTICK_SETTINGS names. The environment wins

  --local   start a PostgreSQL and a chain under .local/ and serve the sample world
  --fresh   with --local: delete that world and begin again
  --trace   show where an error came from
  --help    this text
`;

type Run = {
  /** @throws when something did not end as it should; everything else has ended then */
  stop(): Promise<void>;
  /** Resolves with the reason why the service cannot go on. */
  readonly failed: Promise<Error>;
};

const logLines = createLogLines(process.stdout);

/** Settings of the log of a service that is not local, as far as they are read. */
let logOptions: Omit<LoggerOptions, 'level'> = { version: packageFile.version };

function openLog(options: LoggerOptions): Logger {
  const log = createLogger({ ...options, destination: logLines });
  logLines.onResumed((lines) =>
    log.warn({ lines }, 'lines of the log were left out: nobody read those before'),
  );
  return log;
}

async function serve(settings: string | undefined): Promise<Run> {
  const gathered = gatherSettings(process.env, settings);
  const env = await openSecretSettings(gathered);
  logOptions = { ...logOptions, secrets: secretTexts(env) };
  const config = loadConfig(env);
  logOptions = { ...logOptions, roles: config.ROLES };
  const log = openLog({ ...logOptions, level: config.LOG_LEVEL });
  const settingsFile = settings ?? process.env[settingsFileVariable];
  for (const { file, mode, readers } of findOpenFiles(config, gathered, settingsFile))
    log.warn({ file, mode }, `${readers} can read this file of settings or secrets: ${closingHint}`);
  const origin = { url: config.DATABASE_URL, local: false, needs: config.ROLES };
  const service = await startService(config, log, { logLines }).catch((error: unknown) => {
    const message = explainDatabase(error, origin);
    throw message === undefined ? error : new Error(message, { cause: error });
  });
  return { stop: service.stop, failed: new Promise(() => {}) };
}

/** The whole service with its own database and chain. It is for development, so it is loaded only here. */
async function serveLocal(fresh: boolean): Promise<Run> {
  const { preparePortal, startLocal, untilIndexed } = await import('../local/start-local.ts');
  // People read this terminal, so requests are logged only when they set a level.
  const env = { LOG_LEVEL: 'warn', ...process.env };
  const log = openLog({ level: env.LOG_LEVEL });
  const print = (line: string) => process.stdout.write(`${line}\n`);
  // Closes in reverse order: the service, then the programs that it works on.
  await using starting = new AsyncDisposableStack();
  const portal = preparePortal(log);
  const options = { fresh, directory: process.cwd(), env, log, print };
  const local = starting.adopt(await startLocal(options), (programs) => programs.stop());
  await portal;
  await local.releasePorts();
  starting.adopt(
    await startService(local.config, log, {
      plainSigners: [local.signer],
      sampleKey: local.credentials.keys.acme,
      logLines,
    }),
    (service) => service.stop(),
  );
  const indexed = (patienceMs: number) => untilIndexed(local.config, local.credentials, { log, patienceMs });
  const isIndexed = await indexed(60_000);
  local.keep();
  if (!isIndexed) print('The index of the chain is still catching up.');
  print(local.banner);
  const running = starting.move();
  const stop = async () => {
    // Where a program has ended unasked there is nothing to wait for.
    await indexed(5_000).catch(() => false);
    await running.disposeAsync();
  };
  return { stop, failed: local.failed };
}

// In a container this is process 1, which the system ends by no signal that it does not handle.
const startEndings = (['SIGINT', 'SIGTERM'] as const).map(
  (signal) => [signal, () => process.exit(128 + constants.signals[signal])] as const,
);
for (const [signal, endStart] of startEndings) process.on(signal, endStart);

// A terminal or supervisor that signals the whole group reaches the process twice: npm hands the signal on.
const sameSignalMs = 1_000;

/** Stops on the first SIGINT or SIGTERM; a later one ends the process at once. */
function stopInOrder({ stop, failed }: Run): void {
  let stoppingSince: number | undefined;
  const end = (exitCode: number) => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    stop()
      .then(logLines.end)
      .then(() => process.exit(exitCode), fail);
  };
  for (const [signal, endStart] of startEndings) {
    process.on(signal, () => end(0));
    process.off(signal, endStart);
  }
  failed.then((error) => {
    if (stoppingSince !== undefined) return;
    process.stderr.write(`tallystick: ${error.message}\n`);
    end(1);
  });
}

/** Says why the process ends, with --trace where it came from, and ends it. */
function fail(error: unknown): never {
  const reasons = reasonsOf(error);
  if (options.local) for (const reason of reasons) process.stderr.write(`tallystick: ${describe(reason)}\n`);
  else logFatal(reasons);
  process.exit(error instanceof ConfigError ? 2 : 1);
}

/** Writes one line, the last of the log, whatever LOG_LEVEL is: who collects lines of JSON finds the reason among them. */
function logFatal(reasons: readonly unknown[]): void {
  const log = createLogger({ ...logOptions, level: 'fatal', destination: logLines });
  const isTraced = process.argv.includes('--trace');
  log.fatal(isTraced ? { err: reasons[0] } : {}, reasons.map(inOneLine).join('; '));
}

const inOneLine = (reason: unknown) =>
  reason instanceof ConfigError
    ? `The configuration has ${reason.faults.length} fault(s): ${reason.faults.join('; ')}`
    : errorText(reason);

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isTraced = process.argv.includes('--trace') || error.message === '';
  return (isTraced && error.stack) || error.message;
}

const { values: options } = parseArgs({
  options: {
    local: { type: 'boolean' },
    fresh: { type: 'boolean', default: false },
    settings: { type: 'string' },
    trace: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  process.stdout.write(help);
} else {
  // An error that nobody caught is a fault of ours, so its line has the stack.
  if (!options.local)
    process.on('uncaughtException', (err) => {
      createLogger({ ...logOptions, level: 'fatal', destination: logLines }).fatal({ err }, err.message);
      process.exit(1);
    });
  await (options.local ? serveLocal(options.fresh) : serve(options.settings)).then(stopInOrder, fail);
}
