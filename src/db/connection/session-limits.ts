import type { Tx } from '../../contract/transaction.ts';

/** What the server allows a session, in milliseconds; 0 means no limit. */
export type SessionLimits = {
  /** For one statement. */
  readonly statementMs: number;
  /** For the wait for a row or table that another transaction has locked. */
  readonly lockMs: number;
  /** Between two statements of a transaction. A transaction that stays open keeps its locks no longer. */
  readonly idleInTransactionMs: number;
};

/** Limits of the service: a request ends soon, and so does a transaction that a vanished process has left open. */
export const serviceLimits: SessionLimits = {
  statementMs: 30_000,
  lockMs: 2_000,
  idleInTransactionMs: 7_000,
};

/** Of the operator's command, where a person waits, and reads nodes or files between two statements. */
export const commandLimits: SessionLimits = {
  statementMs: 30_000,
  lockMs: 10_000,
  idleInTransactionMs: 60_000,
};

/**
 * Limits of commands that read or delete whole tables, in one statement for one moment. A statement that nobody waits
 * for any more ends, too.
 */
export const wholeLimits: SessionLimits = { ...commandLimits, statementMs: 3_600_000 };

/** Limits of migrations. A migration takes its time, but a statement that waits for a table keeps all others from the table. */
export const migrationLimits: SessionLimits = { statementMs: 0, lockMs: 30_000, idleInTransactionMs: 0 };

// The server notices a client that vanished in about 12 s, also while it sends it something or works for it.
const serverKeepAlive = {
  client_connection_check_interval: '10000',
  tcp_keepalives_idle: '6',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '12000',
};

// What statements and their results are read with. A server, database or user may have other defaults, such as DateStyle
// 'SQL, DMY', in which an Indian time is written as IST and read again as Israel's.
const reportedFormats = { DateStyle: 'ISO, MDY', TimeZone: 'UTC' };
const formats = {
  ...reportedFormats,
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
};

// Compiling the plan of a statement costs more than a short statement takes. Long statements here read rows rather than
// compute.
const planning = { jit: 'off' };

const limitSettings = ({ statementMs, lockMs, idleInTransactionMs }: SessionLimits) => ({
  statement_timeout: String(statementMs),
  lock_timeout: String(lockMs),
  idle_in_transaction_session_timeout: String(idleInTransactionMs),
});

type Statement = { readonly text: string; readonly values: string[] };

// A statement sets them, because poolers reject parameters of the connection.
const setAll = (settings: Readonly<Record<string, string>>, isLocal: boolean): Statement => {
  const names = Object.keys(settings);
  const calls = names.map((_, index) => `set_config($${index * 2 + 1}, $${index * 2 + 2}, ${isLocal})`);
  return { text: `SELECT ${calls.join(', ')}`, values: Object.entries(settings).flat() };
};

/**
 * Returns the statement that begins a session, and whose row has the server's process as `pid`.
 * @param name the server shows it, also behind a pooler
 * @param limits undefined where sessions of the server are shared: a pooler keeps for each client what the server reports
 *   of its own accord, and nothing else can be set for long
 */
export function beginSession(name: string, limits: SessionLimits | undefined): Statement {
  const settings = limits
    ? { ...formats, ...planning, ...serverKeepAlive, ...limitSettings(limits) }
    : reportedFormats;
  const { text, values } = setAll({ application_name: name, ...settings }, false);
  return { text: `${text}, pg_backend_pid() AS pid`, values };
}

/** Sets limits and formats for the rest of a transaction. */
export async function limitTransaction(tx: Tx, limits: SessionLimits): Promise<void> {
  const { text, values } = setAll({ ...formats, ...limitSettings(limits) }, true);
  await tx.raw(text.replaceAll(/\$\d+/g, '?'), values);
}
