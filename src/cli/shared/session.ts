import type { Config } from '../../config.ts';
import { createDatabase } from '../../db/connect.ts';
import { type DatabaseState, inspectDatabase } from '../../db/inspect.ts';
import { createLogger } from '../../log.ts';
import { explainDatabase } from './database-failure.ts';
import { InterruptedError, OperationError } from './failure.ts';
import type { Output } from './output.ts';

export type Database = ReturnType<typeof createDatabase>;

/** How a command gets its parts, and what the process was started with. */
export type Session = {
  /** Reads the settings. @throws ConfigError */
  readonly config: () => Config;
  /** Whether they are those of the service that `npm start` made. */
  readonly local: () => boolean;
  readonly output: () => Output;
  /** Makes the exit status 1 although the command said all there is to say. */
  readonly fail: () => void;
  /** Calls once when the person presses Ctrl-C. @returns the way to stop waiting for it */
  readonly onInterrupt: (listener: () => void) => () => void;
};

/** What a command works with. */
export type Operator = {
  readonly config: Config;
  readonly db: Database;
  readonly output: Output;
  /** Of the database, when the command began. */
  readonly state: DatabaseState;
};

type Options = {
  /** `any` for the commands that are there to look at the schema or to mend it. */
  readonly schema?: 'current' | 'any';
};

/** Opens the database for the length of the work and closes it whatever happens. */
export async function asOperator<T>(
  session: Session,
  work: (operator: Operator) => Promise<T>,
  { schema = 'current' }: Options = {},
): Promise<T> {
  const config = session.config();
  const db = createDatabase(config.DATABASE_URL, { poolMax: 4, log: createLogger({ level: 'silent' }) });
  try {
    const state = await inspectDatabase(db);
    if (schema === 'current') assertCurrent(state);
    return await work({ config, db, output: session.output(), state });
  } catch (error) {
    const message = explainDatabase(error, { url: config.DATABASE_URL, local: session.local() });
    throw message === undefined ? error : new OperationError(message, { cause: error });
  } finally {
    await db.destroy();
  }
}

/** @throws OperationError that says what to do when the schema is not that of this release */
export function assertCurrent({ pending, unknown }: DatabaseState): void {
  if (unknown.length > 0) {
    throw new OperationError(
      `The database was migrated by a newer release (${unknown.join(', ')}): use that release.`,
    );
  }
  if (pending.length > 0) {
    throw new OperationError(
      `The database lacks ${pending.length} migration(s) of this release. Run: tallystick migrate`,
    );
  }
}

/**
 * Runs work that Ctrl-C must not cut in the middle: it is told by the signal instead and undoes what it did.
 * A second Ctrl-C ends the process at once.
 * @param undone what is left when it was interrupted, for the person
 * @throws InterruptedError
 */
export async function interruptible<T>(
  session: Session,
  undone: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stopWaiting = session.onInterrupt(() => {
    session.output().say('Stopping after what is in hand; Ctrl-C again ends at once.');
    controller.abort();
  });
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? new InterruptedError(`Interrupted: ${undone}`) : error;
  } finally {
    stopWaiting();
  }
}
