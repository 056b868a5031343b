import { errorCode } from '../../base/thrown.ts';
import { type DatabaseRole, groupOf } from '../../db/schema/role-rights.ts';

type Needs = 'owner' | readonly DatabaseRole[];

/** The URL of the database, and whether it is the database that `npm start` made. */
export type DatabaseOrigin = {
  readonly url: string;
  readonly local: boolean;
  /** The setting that names it; `DATABASE_URL` by default. */
  readonly setting?: string;
  /** The user whose rights are needed: the owner, or these roles; an operator by default. */
  readonly needs?: Needs;
};

/**
 * Explains a failure of the database and how to repair it. The text contains neither the password nor the
 * statement, which Knex puts with its values in front of the message.
 * @returns undefined for an error of another origin
 */
export function explainDatabase(error: unknown, origin: DatabaseOrigin): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const where = whereIs(origin);
  const code = errorCode(error);
  const known = code === undefined || isOfFile(error) ? undefined : explanations[code];
  if (known !== undefined) return known(where, error);
  if (error.name === 'KnexTimeoutError' || /^timeout expired|^Connection terminated/.test(error.message)) {
    return `${where.server} does not answer in time. ${where.remedy}`;
  }
  if (!isServerError(error)) return undefined;
  return `The database rejected the statement (SQLSTATE ${code}): ${withoutStatement(error.message)}`;
}

type Where = {
  /** `PostgreSQL at host:port`. */
  readonly server: string;
  readonly user: string;
  readonly database: string;
  readonly setting: string;
  readonly needs: Needs;
  /** What to do when the server does not answer. */
  readonly remedy: string;
};

const unreachable = ({ server, remedy }: Where, { message }: Error) =>
  `${server} cannot be reached${message === '' ? '' : ` (${message})`}. ${remedy}`;
const wrongLogin = ({ server, user, setting }: Where) =>
  `${server} rejects user "${user}". Check user and password in ${setting}.`;
const untrusted = ({ server, setting }: Where, { message }: Error) =>
  `The certificate of ${server} is not trusted (${message}). Check sslmode and sslrootcert in ${setting}.`;
const oldSchema = () => 'The schema is not that of this release. Run: tallystick migrate';
const ended = ({ server }: Where) =>
  `${server} ended the connection. What was not committed is undone; run the command again.`;

// The key is an SQLSTATE, or a code of the operating system or of TLS.
const explanations: Readonly<Record<string, (where: Where, error: Error) => string>> = {
  ECONNREFUSED: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  ENOENT: unreachable,
  ECONNRESET: ended,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  '28P01': wrongLogin,
  '28000': wrongLogin,
  '3D000': ({ server, database, setting }) =>
    `${server} has no database "${database}". Create it, or correct ${setting}.`,
  '42501': ({ user, needs }, { message }) =>
    `User "${user}" lacks a right in the database: ${withoutStatement(message)}. ${
      needs === 'owner'
        ? 'Give DATABASE_URL the owner of the database.'
        : `Give DATABASE_URL a user of the group, or run as administrator: GRANT ${needs.map(groupOf).join(', ')} TO "${user}"`
    }`,
  '25006': ({ server }) => `${server} only reads: name its primary in DATABASE_URL.`,
  '53300': ({ server }) => `${server} has no connection left. Raise its max_connections or try again later.`,
  '57P03': ({ server }) => `${server} is starting or stopping. Try again in a moment.`,
  '57P01': ended,
  '57014': ({ server }) => `${server} took too long over one statement. Nothing of it was done; try again.`,
  '42P01': oldSchema,
  '42703': oldSchema,
};

function whereIs({
  url: databaseUrl,
  local,
  setting = 'DATABASE_URL',
  needs = ['operator'],
}: DatabaseOrigin): Where {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  const host = url?.host || url?.searchParams.get('host') || `the address in ${setting}`;
  return {
    server: `PostgreSQL at ${host}`,
    user: decodeURIComponent(url?.username ?? '') || 'of the system',
    setting,
    needs,
    database: decodeURIComponent(url?.pathname.slice(1) ?? ''),
    remedy: local
      ? 'Start the local service first: npm start'
      : `Check that it runs, and host and port in ${setting}.`,
  };
}

// ENOENT is the code of a missing file as well as of a missing socket.
const isOfFile = (error: Error) => 'syscall' in error && error.syscall === 'open';
const isServerError = (error: Error) => 'severity' in error && 'code' in error;
const withoutStatement = (message: string) =>
  message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '');
