import type { Readable, Writable } from 'node:stream';
import { createLogger, type Logger } from '../../base/log.ts';
import { type Connections, openConnections, sessionUrlOf } from '../../compose/connections.ts';
import type { ClientSettings } from '../../config/client-settings.ts';
import type { Config, Environment } from '../../config/config.ts';
import { commandLimits, migrationLimits, wholeLimits } from '../../db/connection/session-limits.ts';
import { type DatabaseState, inspectDatabase } from '../../db/schema/inspect.ts';
import { assertUsable } from '../../db/schema/schema-check.ts';
import { explainDatabase } from './database-failure.ts';
import { InterruptedError, OperationError } from './failure.ts';
import type { Output } from './output.ts';
import type { Prompt } from './prompt.ts';

/** The surroundings of the program: its version, its environment and its user. */
export type Surroundings = {
  readonly version: string;
  readonly environment: Environment;
  readonly prompt: Prompt;
  /** Calls the listener at the first Ctrl-C. @returns a function that removes the listener */
  readonly onInterrupt: (listener: () => void) => () => void;
};

/** What every command is given: where settings come from, and how it talks to the person. */
export type Session = Surroundings & {
  /** Reads the settings. @throws ConfigError */
  readonly config: () => Promise<Config>;
  /** Where a service is that a command calls as its callers do. @throws ConfigError */
  readonly client: () => ClientSettings;
  /** Standard input and output, for a command that talks to a program. */
  readonly channel: () => { readonly input: Readable; readonly output: Writable };
  /** The file that --settings or TALLYSTICK_SETTINGS names. */
  readonly settingsFile: () => string | undefined;
  /** Whether `npm start` made the settings of this service. */
  readonly local: () => boolean;
  readonly output: () => Output;
  /** Makes the exit status 1 without a message. */
  readonly fail: () => void;
};

/** What a command works with. */
export type Operator = Connections & {
  readonly config: Config;
  /** Silent: a command talks to the person by its output. */
  readonly log: Logger;
  readonly output: Output;
  /** The state of the schema when the command began. */
  readonly state: DatabaseState;
};

type Options = {
  /** `any` for commands that inspect or change the schema; they take their time. */
  readonly schema?: 'current' | 'any';
  /** For commands that read or delete whole tables by one statement, which may take its time. */
  readonly isWhole?: boolean;
};

/**
 * Runs the work with open connections and closes them, whatever the outcome.
 * @throws SchemaError when this release cannot work with the schema; OperationError when the database fails
 */
export async function asOperator<T>(
  session: Session,
  work: (operator: Operator) => Promise<T>,
  { schema = 'current', isWhole = false }: Options = {},
): Promise<T> {
  const config = await session.config();
  await using opened = new AsyncDisposableStack();
  const { log, ...connections } =
    schema === 'any'
      ? openForMigration(config, opened)
      : openForCommand(config, opened, isWhole ? wholeLimits : commandLimits);
  try {
    const state = await inspectDatabase(connections.db);
    if (schema === 'current') assertUsable(state);
    return await work({ ...connections, config, log, output: session.output(), state });
  } catch (error) {
    const needs = schema === 'any' ? 'owner' : (['operator'] as const);
    const message = explainDatabase(error, { url: config.DATABASE_URL, local: session.local(), needs });
    throw message === undefined ? error : new OperationError(message, { cause: error });
  }
}

type CommandConnections = Connections & { readonly log: Logger };

/**
 * The connections of a command, and the silent log that they write to.
 * @param opened closes the connections
 */
export function openForCommand(
  config: Config,
  opened: AsyncDisposableStack,
  limits = commandLimits,
): CommandConnections {
  const log = createLogger({ level: 'silent' });
  return { ...openConnections(config, { poolMax: 4, log, limits }, opened), log };
}

// A lock spans several transactions, so it goes past a pooler.
function openForMigration(config: Config, opened: AsyncDisposableStack): CommandConnections {
  const direct = { ...config, DATABASE_URL: sessionUrlOf(config), DATABASE_SESSION_URL: undefined };
  return openForCommand(direct, opened, migrationLimits);
}

/**
 * Runs work that Ctrl-C must not end half-way. The first Ctrl-C aborts the signal, and the work rolls back what
 * it did; a second one ends the process at once.
 * @param undone the state after an interruption, for the person
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
