/** A failure that the person at the keyboard can repair. The message says how, so its stack is not needed. */
export class LocalError extends Error {
  readonly explains = true;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'LocalError';
  }
}
