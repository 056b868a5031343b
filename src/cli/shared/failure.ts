import { CommanderError } from 'commander';
import { ProblemError } from '../../base/errors.ts';
import { errorText } from '../../base/thrown.ts';
import { ConfigError } from '../../config/config.ts';
import { SchemaError } from '../../db/schema/schema-check.ts';
import { LocalError } from '../../local/programs/local-error.ts';

/** A mistake in the command. The message says what to do instead; exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Something that could not be done. The message needs no addition; exit status 1. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
}

/** The person pressed Ctrl-C; exit status 130, as after the signal. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

export type CommandFailure = {
  readonly message: string;
  readonly exitCode: number;
  /** Whether the message is printed already: the parser writes help and its own errors itself. */
  readonly isPrinted: boolean;
};

/** The message and exit status of a command that threw. */
export function explainFailure(error: unknown): CommandFailure {
  const failure = (message: string, exitCode: number) => ({ message, exitCode, isPrinted: false });
  if (error instanceof CommanderError) return explainParser(error);
  if (error instanceof ConfigError) {
    return failure(`${error.message}\nFor the service that npm start made, add --local.`, 2);
  }
  if (error instanceof UsageError || error instanceof ProblemError || error instanceof LocalError) {
    return failure(error.message, 2);
  }
  if (error instanceof InterruptedError) return failure(error.message, 130);
  if (error instanceof OperationError || error instanceof SchemaError) return failure(error.message, 1);
  return failure(`${errorText(error) || 'It failed.'}\nFor a check of everything: tallystick doctor`, 1);
}

function explainParser({ code, exitCode, message }: CommanderError): CommandFailure {
  if (exitCode === 0) return { message: '', exitCode: 0, isPrinted: true };
  const text = code === 'commander.help' ? 'A command is missing. See: tallystick --help' : message;
  return { message: text.replace(/^error: /, ''), exitCode: 2, isPrinted: true };
}
