/** Returns the message of a thrown value, which need not be an error. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The code of a failed system call or statement, such as `EACCES` or `23505`; undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
