/** Something that the person at the keyboard can mend; the message says how, so nobody needs its stack. */
export class LocalError extends Error {
  readonly explains = true;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'LocalError';
  }
}

/** The system's code of a failed call, such as `EACCES`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
