/** A failure that the person at the keyboard can repair. The message says how, so its stack is not needed. */
export class LocalError extends Error {
  readonly explains = true;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'LocalError';
  }
}

/** The code of a failed system call, such as `EACCES`; undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
