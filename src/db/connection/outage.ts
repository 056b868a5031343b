// Errors of Node, of the pool and of PostgreSQL when the database cannot be reached or accepts no work. They are the
// SQLSTATE classes 08 (connection), 53 (resources) and 57 (operator intervention, statement timeouts included).
// Others are a lock that did not come in time, a transaction that was idle for too long, and a write where the server
// only reads (a replica).
const codes = new Set(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN']);
const sqlStates = /^((08|53|57)...|55P03|25P03|25006)$/;
// Knex puts the statement before the message: `ROLLBACK - Connection terminated unexpectedly`.
const messages =
  /\b(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error)\b|\btimeout expired$/;

/** Whether an error, or its cause, means that the database is unavailable, so that the same work may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return (
    codes.has(code) ||
    sqlStates.test(code) ||
    error.name === 'KnexTimeoutError' ||
    messages.test(error.message) ||
    isOutage(error.cause)
  );
}

/** The SQLSTATE of an error, or Node's error code; empty when it has none. */
export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
