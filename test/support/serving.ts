import type { Knex } from 'knex';
import { createLogger } from '../../src/base/log.ts';
import { type ApiParts, createApiParts, createServiceApp } from '../../src/compose/api.ts';
import { createParts } from '../../src/compose/parts.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { FixedValues } from '../../src/config/fixed-values.ts';
import { listen } from '../../src/http/server/listener.ts';
import { insertCompany } from '../../src/keys/company-store.ts';
import { issueKey, revokeKey } from '../../src/keys/key-store.ts';
import type { Login } from './database.ts';

type Keys = {
  readonly acme: string;
  readonly globex: string;
  readonly noCompany: string;
  /** Of acme, with the scope `secrets:read` only. */
  readonly scoped: string;
  readonly revoked: string;
};

/** The companies of a test and the API keys of their callers. */
export type Population = {
  readonly keys: Keys;
  readonly companies: { readonly acme: string; readonly globex: string };
};

type Serving = {
  readonly parts: ApiParts;
  /** The URL of its listener, without a path. */
  readonly baseUrl: string;
  close(): Promise<void>;
};

export type ServiceOptions = {
  /** Settings in addition to those of every test; they win over them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Likewise of what is no setting. */
  readonly fixed?: Partial<FixedValues>;
  /** Replaces parts after they were built, for faults that cannot be caused from outside. */
  readonly replace?: (parts: ApiParts) => Partial<ApiParts>;
  /** The RPC URL of a chain with id 31337. Without it, the node of the network does not answer. */
  readonly rpcUrl?: string;
  /** The URL of the PostgreSQL server for its database. Default: the server of the test run. */
  readonly postgresUrl?: string | undefined;
  /** The user of its connections; by default one that may do what callers need. */
  readonly databaseUser?: Login;
  /** The hosted data provider. With it, network 1 is registered and uses this provider. */
  readonly moralis?: { readonly baseUrl: string; readonly apiKey: string };
};

const secretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** Starts the service on a migrated database, with rate limits off, on a free port of this process. */
export async function serve(databaseUrl: string, options: ServiceOptions = {}): Promise<Serving> {
  const settings = {
    DATABASE_URL: databaseUrl,
    SECRET_KEYS: secretKeys,
    CURSOR_KEYS: secretKeys,
    KEY_ENVIRONMENT: 'test',
    RATE_LIMIT_PER_SECOND: '0',
    PUBLIC_REQUESTS_PER_MINUTE: '0',
    RPC_TIMEOUT_MS: '2000',
    // A company gets two fifths of the pool; some tests hold up ten of its requests.
    DATABASE_POOL_MAX: '30',
    ...(options.moralis && {
      MORALIS_BASE_URL: options.moralis.baseUrl,
      MORALIS_API_KEY: options.moralis.apiKey,
    }),
    ...options.settings,
  };
  const config = loadConfig(settings, {
    unknownKeysPerMinute: 0,
    // Tests send hundreds of requests at once, on machines that have other things to do.
    maxWaitMs: 5_000,
    providerTimeoutMs: 5_000,
    providerDeadlineMs: 10_000,
    ...options.fixed,
  });
  const opened = new AsyncDisposableStack();
  const shared = await createParts(config, createLogger({ level: 'silent' }), opened);
  const built = await createApiParts(shared, opened);
  const parts: ApiParts = { ...built, ...options.replace?.(built) };
  const app = await createServiceApp(parts);
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    settings: { host: 'HOST', port: 'PORT' },
    log: parts.log,
  });
  return {
    parts,
    baseUrl: `http://127.0.0.1:${server.port}`,
    close: async () => {
      await server.stop(0);
      await opened.disposeAsync();
    },
  };
}

/** Inserts two companies, five keys and the network 31337. */
export async function populate(
  db: Knex,
  { rpcUrl = 'http://127.0.0.1:9', moralis }: ServiceOptions,
): Promise<Population> {
  const network = {
    currency_name: 'Ether',
    currency_symbol: 'ETH',
    currency_decimals: 18,
    rpc_urls: [rpcUrl],
    confirmations: 1,
    finality_depth: 64,
  };
  await db('networks').insert({
    ...network,
    chain_id: 31337,
    name: 'Test chain',
    data_provider: 'indexer',
    minter_contract: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  });
  // A lane is enough for the service to accept mints; whether a worker runs is up to the test.
  await db('mint_lanes').insert({ chain_id: 31337, signer: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65' });
  if (moralis !== undefined) {
    await db('networks').insert({ ...network, chain_id: 1, name: 'Hosted chain', data_provider: 'moralis' });
  }
  const treasuryAddress = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
  const acme = await insertCompany(db, { name: 'acme', treasuryAddress });
  const globex = await insertCompany(db, { name: 'globex', treasuryAddress });
  const key = async (companyId: string | null, label: string) => issueKey(db, 'test', { companyId, label });
  const revoked = await key(acme.id, 'revoked');
  await revokeKey(db, revoked.record.id);
  const keys: Keys = {
    acme: (await key(acme.id, 'acme')).key,
    globex: (await key(globex.id, 'globex')).key,
    noCompany: (await key(null, 'nobody')).key,
    scoped: (await issueKey(db, 'test', { companyId: acme.id, label: 'scoped', scopes: ['secrets:read'] }))
      .key,
    revoked: revoked.key,
  };
  return { keys, companies: { acme: acme.id, globex: globex.id } };
}
