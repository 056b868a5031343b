import type { InputError } from './problem.ts';

const placeholders = /\{(\w+)\}/g;

/** The title of each status, by the present HTTP standard; some of Node's own names are older. */
export const problemTitles = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
} as const;

type Entry = {
  readonly status: keyof typeof problemTitles;
  readonly detail: string;
  readonly retryable?: true;
};

/**
 * Every fixed text of the service, once. `detail` is what a caller reads; `{name}` is a placeholder that
 * {@link problem} fills. A `code` is part of the contract and never changes its meaning.
 */
export const catalogue = {
  api_key_missing: { status: 401, detail: 'x-api-key header missing.' },
  api_key_invalid: { status: 401, detail: 'Invalid API key.' },
  company_required: { status: 403, detail: 'API key is not associated with a company' },
  insufficient_scope: { status: 403, detail: 'API key lacks the scope {scope}' },
  nft_foreign: { status: 403, detail: 'NFT belongs to another company' },
  wallet_not_eligible: { status: 403, detail: 'Wallet is not eligible' },

  input_invalid: { status: 400, detail: 'The request is invalid.' },
  http_malformed: { status: 400, detail: 'The request is not valid HTTP.' },
  json_malformed: { status: 400, detail: 'The request body is not valid JSON.' },
  path_malformed: { status: 400, detail: 'The path has an invalid percent-encoding.' },
  address_required: { status: 400, detail: 'Address is required' },
  network_id_required: { status: 400, detail: 'Network ID is required' },
  attendee_id_required: { status: 400, detail: 'Attendee ID is required' },
  secret_required: { status: 400, detail: 'Secret is required' },
  network_not_found: { status: 400, detail: 'Network with chainId {chainId} not found' },
  cursor_invalid: { status: 400, detail: 'Cursor is invalid' },
  filter_unsupported: {
    status: 400,
    detail: 'The data provider {provider} of this network cannot filter by {parameter}',
  },
  operation_unsupported: {
    status: 400,
    detail: 'The data provider {provider} of this network does not tell {subject}',
  },
  block_not_indexed: { status: 400, detail: 'Block {block} is not in the index of this network' },
  as_of_too_far: {
    status: 400,
    detail: 'More than {limit} records of the wallet, or very large ones, lie on both sides of block {block}',
  },
  as_of_not_read: { status: 400, detail: 'The owners at {asOf} were not read' },
  not_erc20: { status: 400, detail: 'Contract {address} is not an ERC-20 token' },
  secret_invalid: { status: 400, detail: 'Secret is invalid' },
  recipient_required: { status: 400, detail: 'Recipient is required' },
  recipient_unusable: { status: 400, detail: 'No NFT can be minted to {recipient}: it is {what}' },
  wallet_required: { status: 400, detail: 'Wallet is required' },
  proof_required: { status: 400, detail: 'Proof is required' },
  proof_invalid: { status: 400, detail: 'Proof is invalid: {reason}' },
  token_ids_required: {
    status: 400,
    detail: 'Token ids are required, since the contract does not list the free tokens of the wallet',
  },
  too_many_readings: {
    status: 400,
    detail:
      'The event names {entries} contracts, and {wallets} wallets with {tickets} tickets are to be read again. Send at most {most} of these tickets',
  },

  not_found: { status: 404, detail: 'No operation at this path.' },
  event_not_found: { status: 404, detail: 'Event not found' },
  attendee_not_found: { status: 404, detail: 'Attendee not found' },
  rwa_not_found: { status: 404, detail: 'RWA not found' },
  nft_not_found: { status: 404, detail: 'NFT not found' },
  claim_not_found: { status: 404, detail: 'No claim with this id and secret' },
  claim_not_open: { status: 404, detail: 'This NFT is not open for claims yet' },
  token_not_found: { status: 404, detail: 'Token not found' },
  snapshot_not_found: { status: 404, detail: 'Snapshot not found' },
  holder_not_found: { status: 404, detail: 'The wallet owned no NFT in this snapshot' },
  endpoint_not_found: { status: 404, detail: 'Endpoint not found' },
  delivery_not_found: { status: 404, detail: 'Delivery not found' },
  method_not_allowed: { status: 405, detail: 'The method {method} is not allowed here; allowed: {allow}.' },

  request_timeout: { status: 408, detail: 'The request did not arrive in time.', retryable: true },

  attendee_already_invited: { status: 409, detail: 'Attendee already invited' },
  event_full: { status: 409, detail: 'Event is full' },
  tokens_used: { status: 409, detail: 'The tokens of the wallet have admitted other attendees' },
  max_attendees_too_low: { status: 409, detail: 'maxAttendees is below the number of attendees' },
  nft_already_minted: { status: 409, detail: 'NFT is already minted' },
  nft_already_queued: { status: 409, detail: 'NFT is already queued for minting' },
  rwa_archived: { status: 409, detail: 'RWA is archived' },
  rwa_not_claimable: { status: 409, detail: 'RWA is not claimable' },
  minting_unsupported: { status: 409, detail: 'Network with chainId {chainId} is not supported for minting' },
  contract_unmintable: { status: 409, detail: 'Contract {address} of the RWA cannot be minted on: {reason}' },
  contract_taken: { status: 409, detail: 'Contract {address} is used by another company' },
  owners_unread: { status: 409, detail: 'The owners of this RWA were not read from its chain yet' },
  too_many_pending_snapshots: {
    status: 409,
    detail: 'Your company may have {most} pending snapshots. The oldest is {oldest}',
  },
  snapshot_holders_full: {
    status: 409,
    detail:
      'The snapshot has {holders} holders, and snapshots of your company may store {left} more. The oldest is {oldest}',
  },
  snapshot_pending: { status: 409, detail: 'The block of the snapshot is not final yet' },
  idempotency_in_progress: {
    status: 409,
    detail: 'A request with this Idempotency-Key is still in progress.',
    retryable: true,
  },
  endpoint_limit_reached: { status: 409, detail: 'The company has {limit} endpoints already' },
  endpoint_host_limit_reached: { status: 409, detail: 'The company has {limit} endpoints at {host} already' },
  endpoint_outdated: { status: 409, detail: 'The feed no longer keeps what this endpoint has not got' },
  feed_restarted: { status: 410, detail: 'The feed begins at another place.' },
  claim_gone: { status: 410, detail: 'Use POST /v1/api/nft/{id}/mint instead.' },
  precondition_failed: { status: 412, detail: 'The record has changed since the version named in If-Match.' },
  etag_weakened: { status: 412, detail: 'A proxy has weakened the tag in If-Match, so it never matches.' },
  body_too_large: { status: 413, detail: 'The request body is over 100 kB.' },
  media_type_unsupported: { status: 415, detail: 'The request body must be application/json.' },
  idempotency_key_reused: {
    status: 422,
    detail: 'This Idempotency-Key was used with a different request body.',
  },
  rate_limited: {
    status: 429,
    detail: 'Too many requests. Retry after the time given in Retry-After.',
    retryable: true,
  },
  secret_locked: {
    status: 429,
    detail: 'Too many wrong secrets. Retry after the time given in Retry-After.',
    retryable: true,
  },
  mint_quota_exceeded: { status: 429, detail: 'Mint quota exceeded', retryable: true },
  headers_too_large: { status: 431, detail: 'The address and the headers are over 16 kB.' },
  internal_error: { status: 500, detail: 'An unexpected error occurred.' },
  history_unavailable: { status: 502, detail: 'Failed to fetch wallet history.', retryable: true },
  nfts_unavailable: { status: 502, detail: 'Failed to fetch NFTs.', retryable: true },
  tokens_unavailable: { status: 502, detail: 'Failed to fetch tokens.', retryable: true },
  approvals_unavailable: { status: 502, detail: 'Failed to fetch approvals.', retryable: true },
  balance_unavailable: { status: 502, detail: 'Failed to fetch token balance.', retryable: true },
  auth_unavailable: { status: 503, detail: 'The authentication service is unavailable.', retryable: true },
  service_unavailable: { status: 503, detail: 'The service is temporarily unavailable.', retryable: true },
  contract_unverified: {
    status: 503,
    detail: 'No node of the network with chainId {chainId} answers, so the contract cannot be checked.',
    retryable: true,
  },
  eligibility_unavailable: {
    status: 503,
    detail: 'Eligibility cannot be decided now: {reason}',
    retryable: true,
  },
  overloaded: { status: 503, detail: 'The service has too much to do.', retryable: true },
} as const satisfies Record<string, Entry>;

export type ProblemCode = keyof typeof catalogue;

/** The names between braces in a text. */
type PlaceholderOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderOf<Rest>
  : never;

/** The placeholders in the text of a code; `never` for a fixed text. */
type Placeholder<Code extends ProblemCode> = PlaceholderOf<(typeof catalogue)[Code]['detail']>;

/** The codes whose text has no placeholder. */
export type FixedCode = {
  [Code in ProblemCode]: [Placeholder<Code>] extends [never] ? Code : never;
}[ProblemCode];

/** Whether a text is a code of the catalogue whose text has no placeholder. */
export function isFixedCode(text: string): text is FixedCode {
  const entry = Object.entries(catalogue).find(([code]) => code === text)?.[1];
  return entry !== undefined && entry.detail.search(placeholders) === -1;
}

type Extras = {
  readonly errors?: readonly InputError[];
  readonly headers?: Readonly<Record<string, string>>;
  /** When it is worth asking again, for `Retry-After`; undefined where that is not known. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
  /** Replaces the catalogue's text; only for `input_invalid`, whose detail is its first input error. */
  readonly detail?: string;
};

/** An error that is sent to the caller as an RFC 9457 problem. Any other error becomes `internal_error`. */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly title: string;
  readonly errors: readonly InputError[];
  readonly headers: Readonly<Record<string, string>>;
  /** True when the unchanged request may succeed later. */
  readonly retryable: boolean;

  constructor(code: ProblemCode, detail: string, extras: Extras) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    const entry: Entry = catalogue[code];
    this.name = 'ProblemError';
    this.code = code;
    this.status = entry.status;
    this.title = problemTitles[entry.status];
    this.errors = extras.errors ?? [];
    const { retryAfterMs } = extras;
    const retry = retryAfterMs === undefined ? {} : { 'Retry-After': wholeSeconds(retryAfterMs) };
    this.headers = { ...retry, ...extras.headers };
    this.retryable = entry.retryable ?? false;
  }
}

const wholeSeconds = (ms: number) => String(Math.max(1, Math.ceil(ms / 1_000)));

/** The arguments after the code: a value for each placeholder of its text, then the extras. */
type ProblemArguments<Code extends ProblemCode> = [Placeholder<Code>] extends [never]
  ? [values?: Readonly<Record<string, never>>, extras?: Extras]
  : [values: Readonly<Record<Placeholder<Code>, string>>, extras?: Extras];

/**
 * Makes the problem of a code. The values fill the placeholders of its text. Each value is required.
 * @example throw problem('event_full')
 * @example throw problem('network_not_found', { chainId: '77' })
 */
export function problem<Code extends ProblemCode>(
  code: Code,
  ...[values = {}, extras = {}]: ProblemArguments<Code>
): ProblemError {
  return new ProblemError(code, extras.detail ?? fillIn(catalogue[code].detail, values), extras);
}

/** Returns the problem of input with faults. The first fault is its detail. */
export const inputInvalid = (errors: readonly InputError[]): ProblemError =>
  problem('input_invalid', {}, { detail: errors[0]?.message ?? catalogue.input_invalid.detail, errors });

function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(placeholders, (whole, name) => values[name] ?? whole);
}
