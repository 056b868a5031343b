import { z } from 'zod';
import { httpUrl, keyRing, listOf, proxy, signerList, whole } from './setting-forms.ts';

export const areas = ['blockchain', 'events', 'rwa', 'claim'] as const;
export type Area = (typeof areas)[number];

export const roles = ['api', 'worker', 'indexer'] as const;

/** The variables that settings are read from. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Every setting: how it is parsed, and its text in the README's table. */
export const settings = {
  DATABASE_URL: {
    schema: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL'),
    about: 'PostgreSQL 15 or later: `postgres://user:password@host:port/database`.',
    secret: true,
  },
  DATABASE_SESSION_URL: {
    schema: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
      .optional(),
    about:
      'Where `DATABASE_URL` leads to a pooler in transaction mode (PgBouncer): the same database without it, for what needs a session of its own.',
    secret: true,
  },
  DATABASE_PREPARED_STATEMENTS: {
    schema: z.enum(['on', 'off']).optional(),
    about:
      'Whether statements are kept under names. By default `on`, and `off` with `DATABASE_SESSION_URL`; PgBouncer keeps them from 1.21 on, with `max_prepared_statements`.',
  },
  DATABASE_LOCK_TIMEOUT_MS: {
    schema: whole(10, 60_000).default(2_000),
    about:
      'Time that a statement waits for a row that another transaction has locked; then the answer is 503.',
  },
  DATABASE_POOL_MAX: {
    schema: whole(1, 500).default(10),
    about: 'Connections that this process opens at most.',
  },
  HOST: { schema: z.string().min(1).default('0.0.0.0'), about: 'Address to listen on.' },
  PORT: { schema: whole(0, 65_535).default(3000), about: 'Port to listen on; 0 picks a free one.' },
  MAX_CONNECTIONS: {
    schema: whole(1, 1_000_000).default(10_000),
    about:
      'Connections of callers in all; more are closed at once. Fewer where the process may not open so many files.',
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    schema: whole(1, 1_000_000).default(1_000),
    about: 'Connections of callers from one address. Behind a proxy, whose address is that of all, raise it.',
  },
  MAX_WAIT_MS: {
    schema: whole(10, 5_000).default(300),
    about:
      'Time that requests of a company may wait for a connection to the database before its further ones are 503 with `Retry-After`.',
  },
  MAX_BUSY_MS: {
    schema: whole(1, 10_000).default(100),
    about:
      'Time that the process works on the requests that came at once; those of them that are left are 503 with `Retry-After`.',
  },
  REQUEST_DEADLINE_SECONDS: {
    schema: whole(1, 600).default(45),
    about: 'Time for an answer to be made; then it is 503, and the work for it ends.',
  },
  MAX_ANSWERS_MB: {
    schema: whole(1, 100_000).default(128),
    about:
      'Megabytes of answers that callers have not read yet, over all connections; beyond, a read is 503 with `Retry-After`.',
  },
  OPERATIONS_PORT: {
    schema: whole(0, 65_535).optional(),
    about:
      'Port of a listener for operators, with `/healthz`, `/readyz` and `/metrics`, in every role; 0 picks a free one. Without it there is none.',
  },
  OPERATIONS_HOST: {
    schema: z.string().min(1).default('127.0.0.1'),
    about: 'Address of the listener for operators. Whoever reaches it needs no key.',
  },
  AREAS: { schema: listOf(areas).default([...areas]), about: 'Areas that this process serves.' },
  ROLES: { schema: listOf(roles).default([...roles]), about: 'What this process does.' },
  PUBLIC_BASE_URL: {
    schema: httpUrl.optional(),
    about: 'Address under which callers reach this service; by default `http://localhost:PORT`.',
  },
  OPERATOR_NAME: {
    schema: z
      .string()
      .regex(/^\p{L}[\p{L}\p{N} .,()-]{0,99}$/u, 'must be letters, digits, spaces and .,()- only')
      .default('Tallystick'),
    about: 'Who runs this service, as the portal and the OpenAPI documents say it.',
  },
  SUPPORT_URL: {
    schema: z
      .string()
      .regex(/^(https?:\/\/|mailto:)[^\s"'<>`]+$/, 'must be an http, https or mailto address')
      .optional(),
    about:
      'Where callers find help, in the portal and the documents: `https:` or `mailto:`; by default the portal.',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    about: 'Least severe level that is logged.',
  },
  HSTS_SECONDS: {
    schema: whole(0, 63_072_000).default(0),
    about:
      'Time for which browsers are told to use nothing but https for this host (`Strict-Transport-Security`); 0 tells them nothing.',
  },
  DRAIN_SECONDS: {
    schema: whole(0, 300).default(5),
    about:
      'Time between not being ready and closing the listener when the process is told to stop: how long load balancers take to notice. Requests are answered meanwhile, each with `Connection: close`.',
  },
  SHUTDOWN_SECONDS: {
    schema: whole(1, 300).default(30),
    about: 'Time that requests and jobs in progress get to end when the process is told to stop.',
  },
  KEY_VERIFIER: {
    schema: z.enum(['postgres', 'remote']).default('postgres'),
    about: 'Who verifies API keys: the own key store, or a remote authentication service.',
  },
  KEY_ENVIRONMENT: {
    schema: z
      .string()
      .regex(/^[a-z]{2,10}$/, 'must be 2 to 10 lower-case letters')
      .default('live'),
    about: 'The middle of a key, `tk_<environment>_…`; keys of another environment are refused.',
  },
  KEY_CACHE_SECONDS: {
    schema: whole(0, 10).default(10),
    about: 'How long a verified key is remembered. At most 10, the promised time for a revocation.',
  },
  KEY_CACHE_MAX: { schema: whole(1, 1_000_000).default(10_000), about: 'Keys remembered at most.' },
  AUTH_URL: {
    schema: httpUrl
      .refine(
        (url) => new URL(url).username === '' && new URL(url).password === '',
        'must carry no user or password; use AUTH_CREDENTIAL',
      )
      .optional(),
    about: 'Remote verifier: the URL that keys are posted to.',
  },
  AUTH_CREDENTIAL: {
    schema: z.string().min(1).optional(),
    about: "Remote verifier: the service's own credential, sent as a bearer token.",
    secret: true,
  },
  AUTH_DIALECT: {
    schema: z.enum(['better-auth', 'unkey']).default('better-auth'),
    about: 'Remote verifier: the shape of its answers.',
  },
  AUTH_TIMEOUT_MS: {
    schema: whole(50, 30_000).default(2_000),
    about: 'Remote verifier: time for one answer.',
  },
  RATE_LIMIT_PER_SECOND: {
    schema: whole(0, 1_000_000).default(100),
    about: 'Requests a second that a key may make on average; 0 means no limit.',
  },
  RATE_LIMIT_BURST: {
    schema: whole(1, 2_000_000).default(200),
    about: 'Requests that a key may make at once.',
  },
  UNKNOWN_KEYS_PER_MINUTE: {
    schema: whole(0, 1_000_000).default(120),
    about:
      'Refused keys that an address may send in a minute; after that, keys of this address that are not known to be valid are 429 without a look-up. 0 means no limit.',
  },
  PUBLIC_REQUESTS_PER_MINUTE: {
    schema: whole(0, 1_000_000).default(1_200),
    about:
      'Requests that need no key, for token metadata and claims, that an address may send in a minute; after that they are 429. 0 means no limit.',
  },
  TRUSTED_PROXIES: {
    schema: z
      .string()
      .transform((text) => text.split(',').map((item) => item.trim()))
      .pipe(z.array(proxy))
      .optional(),
    about:
      'Proxies in front of this service, as addresses or networks (`10.0.0.0/8`, `loopback`), separated by commas: their `X-Forwarded-For` tells the address of a caller.',
  },
  SECRET_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that encrypt claim secrets and the addresses of nodes: `id:base64` of 32 bytes, or `id:kms:arn:base64` wrapped by AWS KMS, separated by commas. The first encrypts, all decrypt. Needed for the areas `rwa` and `claim`.',
    secret: true,
  },
  CURSOR_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that sign the cursors of lists: in the form of `SECRET_KEYS`, the same in all processes. The first signs, all verify. Needed for the area `blockchain`.',
    secret: true,
  },
  MORALIS_API_KEY: {
    schema: z
      .string()
      .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
      .optional(),
    about:
      'Key of the account that asks the hosted data provider. Needed for networks whose data provider is `moralis`.',
    secret: true,
  },
  MORALIS_BASE_URL: {
    schema: httpUrl
      .refine((url) => new URL(url).username === '', 'must not carry a user: use MORALIS_API_KEY')
      .default('https://deep-index.moralis.io/api/v2.2'),
    about: 'Address of the hosted data provider, with its version.',
  },
  MORALIS_TIMEOUT_MS: {
    schema: whole(100, 120_000).default(15_000),
    about: 'Time for one answer of the hosted data provider.',
  },
  MORALIS_DEADLINE_MS: {
    schema: whole(100, 300_000).default(30_000),
    about: 'Time for a question to it with all its tries.',
  },
  MORALIS_CONCURRENCY: {
    schema: whole(1, 1_000).default(10),
    about: 'Requests to it that this process has under way at once; others wait.',
  },
  INDEX_POLL_MS: {
    schema: whole(50, 600_000).default(1_000),
    about: 'Index: time between two looks at a node that has no new block.',
  },
  INDEX_PARALLEL: {
    schema: whole(1, 200).default(8),
    about: 'Index: blocks of a network that its node is asked for at once, at most.',
  },
  INDEX_READY_LAG: {
    schema: whole(0, 1_000_000_000).optional(),
    about:
      'Index: blocks that an index may be behind its node for `/readyz` to say ready. Without it no index holds readiness back.',
  },
  INDEX_IPFS_GATEWAY: {
    schema: httpUrl.default('https://ipfs.io/ipfs'),
    about: 'Index: where metadata of `ipfs:` addresses are fetched; the path is added.',
  },
  INDEX_METADATA_HOSTS: {
    schema: z
      .string()
      .transform((text) => text.split(',').map((item) => item.trim().toLowerCase()))
      .pipe(z.array(z.string().regex(/^[a-z0-9.[\]:-]+$/, 'must be a comma-separated list of host[:port]')))
      .optional(),
    about:
      'Index: hosts, `host[:port]`, that NFT metadata may be fetched from although they are private or plain http. All others must be public and https.',
  },
  CLAIM_BASE_URL: {
    schema: httpUrl.optional(),
    about:
      'Claim page of companies and RWAs that have none of their own; by default the one of this service, `PUBLIC_BASE_URL/claim`.',
  },
  BALANCE_CACHE_MAX: {
    schema: whole(1, 10_000_000).default(100_000),
    about: 'Token balances remembered at most.',
  },
  RPC_TIMEOUT_MS: {
    schema: whole(100, 120_000).default(5_000),
    about: "Time for one answer of a network's node.",
  },
  RPC_FINALITY_NODES: {
    schema: whole(1, 100).optional(),
    about:
      'Nodes of a network that must agree on a block for it to count as final in minting; by default 1 where it has one node and 2 where it has more. With fewer usable nodes nothing becomes final.',
  },
  MINT_SIGNERS: {
    schema: signerList.optional(),
    about:
      'Who signs mints: `chainId=keystore:path` for an encrypted keystore file, `chainId=kms:arn` for a key in AWS KMS; separated by commas. Each works by itself.',
  },
  MINT_KEYSTORE_PASSWORD_FILE: {
    schema: z.string().min(1).optional(),
    about: 'File with the password of the keystores.',
  },
  MINT_MAX_FEE_GWEI: {
    schema: whole(1, 1_000_000).default(500),
    about: 'What a unit of gas may cost at most; above it minting pauses.',
  },
  MINT_MAX_IN_FLIGHT: {
    schema: whole(1, 16).default(16),
    about: 'Transactions without a block that a signer may have. Nodes hold no more than 16 for sure.',
  },
  MINT_BLOCK_SHARE_PERCENT: {
    schema: whole(1, 100).default(50),
    about: "Of a block's gas that one transaction may take.",
  },
  MINT_STUCK_BLOCKS: {
    schema: whole(1, 10_000).default(5),
    about: 'Blocks without a transaction after which its fees are raised.',
  },
  MINT_POLL_MS: {
    schema: whole(20, 60_000).default(1_000),
    about: 'Time between two looks at a chain on which mints are under way.',
  },
  MINT_REBROADCAST_MS: {
    schema: whole(20, 3_600_000).default(15_000),
    about: 'Time after which a transaction without a block is sent again as it is.',
  },
  MINT_LEASE_SECONDS: {
    schema: whole(1, 600).default(15),
    about: 'Time after which another process takes over the minting of one that shows no sign of life.',
  },
} as const;

type Settings = typeof settings;
type SettingName = keyof Settings;
type Values = { readonly [Name in SettingName]: z.output<Settings[Name]['schema']> };

/** The settings of the service. They are read once, and nothing else reads the environment. */
export type Config = Readonly<Values> & { readonly publicBaseUrl: string; readonly claimBaseUrl: string };

/** Names every fault of the environment, one a line. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** The settings whose values are secret. */
export const secretSettings = (Object.keys(settings) as SettingName[]).filter(
  // The keys of a literal are its names.
  (name) => 'secret' in settings[name],
);

/**
 * Reads all settings. An empty value counts as unset. Values of secret settings are never quoted.
 * @throws ConfigError naming every fault
 */
export function loadConfig(env: Environment = process.env): Config {
  const names = Object.keys(settings) as SettingName[]; // the keys of a literal are its names
  const faults: string[] = [];
  const read: Record<string, unknown> = {};
  for (const name of names) {
    const value = env[name] === '' ? undefined : env[name];
    const parsed = settings[name].schema.safeParse(value);
    if (parsed.success) read[name] = parsed.data;
    else faults.push(...parsed.error.issues.map((issue) => describeIssue(name, issue.message, value)));
  }
  faults.push(...crossFaults(read));
  if (faults.length > 0) throw new ConfigError(faults);
  const values = read as Values; // every setting was read by its own schema
  const publicBaseUrl = baseUrl(values);
  const claimBaseUrl = values.CLAIM_BASE_URL ?? `${publicBaseUrl}/claim`;
  return Object.freeze({ ...values, publicBaseUrl, claimBaseUrl });
}

function describeIssue(name: SettingName, message: string, given: string | undefined): string {
  if (given === undefined) return `${name} is missing`;
  const setting: { about: string; secret?: boolean } = settings[name];
  // A URL may carry a password, so it is treated like a secret.
  const quoted = setting.secret || name.endsWith('_URL') ? '' : ` (is ${JSON.stringify(given)})`;
  return `${name}: ${message}${quoted}`;
}

const areasWithKeys = { SECRET_KEYS: ['rwa', 'claim'], CURSOR_KEYS: ['blockchain'] } as const;

/** Settings that contradict each other. One that could not be read has a fault of its own already. */
function crossFaults(values: Partial<Values>): string[] {
  const faults: string[] = [];
  const isGiven = (name: SettingName) => !(name in values) || values[name] !== undefined;
  for (const name of ['AUTH_URL', 'AUTH_CREDENTIAL'] as const) {
    if (values.KEY_VERIFIER === 'remote' && !isGiven(name)) {
      faults.push(`${name} is missing: KEY_VERIFIER=remote needs it`);
    }
  }
  for (const name of ['SECRET_KEYS', 'CURSOR_KEYS'] as const) {
    const area = areasWithKeys[name].find((user) => values.AREAS?.includes(user));
    if (area === undefined || isGiven(name)) continue;
    faults.push(
      `${name} is missing: the area ${area} needs it; make one: echo "k1:$(openssl rand -base64 32)"`,
    );
  }
  const { MORALIS_TIMEOUT_MS: timeout, MORALIS_DEADLINE_MS: deadline } = values;
  if (timeout !== undefined && deadline !== undefined && deadline < timeout) {
    faults.push('MORALIS_DEADLINE_MS must not be below MORALIS_TIMEOUT_MS');
  }
  const hasKeystore = values.MINT_SIGNERS?.some(({ kind }) => kind === 'keystore') === true;
  if (hasKeystore && !isGiven('MINT_KEYSTORE_PASSWORD_FILE')) {
    faults.push('MINT_KEYSTORE_PASSWORD_FILE is missing: a keystore of MINT_SIGNERS needs it');
  }
  const { RATE_LIMIT_PER_SECOND: perSecond, RATE_LIMIT_BURST: burst } = values;
  if (perSecond !== undefined && burst !== undefined && burst < perSecond) {
    faults.push('RATE_LIMIT_BURST must not be below RATE_LIMIT_PER_SECOND');
  }
  return faults;
}

function baseUrl(values: Values): string {
  return (values.PUBLIC_BASE_URL ?? `http://localhost:${values.PORT}`).replace(/\/+$/, '');
}
