// What Node, the pool and PostgreSQL say when the database cannot be reached or takes no work now: classes 08
// (connection), 53 (resources) and 57 (operator, statements that took too long included).
const codes = new Set(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN']);
const states = /^(08|53|57)...$/;
// Knex puts the statement before them: `ROLLBACK - Connection terminated unexpectedly`.
const messages =
  /\b(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)\b|\btimeout expired$/;

/** Whether the database is out, and not the work at fault: it may go well later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return (
    codes.has(code) ||
    states.test(code) ||
    error.name === 'KnexTimeoutError' ||
    messages.test(error.message) ||
    isOutage(error.cause)
  );
}

/** The SQLSTATE of an error, or Node's code; empty when it has none. */
export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
