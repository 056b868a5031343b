import { once } from 'node:events';
import request, { type Test } from 'supertest';
import { inject } from 'vitest';
import { closeParts, createParts, createServiceApp, type Parts } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { createCompanyStore } from '../../src/keys/company-store.ts';
import { createKeyStore } from '../../src/keys/key-store.ts';
import { createLogger } from '../../src/log.ts';
import { type Answer, createConformance } from './conformance.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';

/** Sends requests with one key, or none; every answer is held against the documents. */
export type Client = Readonly<Record<Method, (path: string) => Test>>;

type Keys = {
  readonly acme: string;
  readonly globex: string;
  readonly noCompany: string;
  readonly revoked: string;
};

export type TestService = {
  readonly parts: Parts;
  readonly db: TestDatabase['db'];
  readonly databaseUrl: string;
  /** Where it listens, for requests that belong to no document. */
  readonly baseUrl: string;
  readonly keys: Keys;
  readonly companies: { readonly acme: string; readonly globex: string };
  /** A client with this key; without one, no key is sent. */
  as(key?: string): Client;
  /** Another process of the same service, so to say: its own parts over the same database. */
  twin(settings?: Readonly<Record<string, string>>): Promise<TestService>;
  close(): Promise<void>;
};

export type ServiceOptions = {
  /** Settings beside those that every test has. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Replaces parts after they were built, for faults that cannot be made from outside. */
  readonly replace?: (parts: Parts) => Partial<Parts>;
  /** RPC URL of a chain with id 31337; without one the network's node does not answer. */
  readonly rpcUrl?: string;
  /** The server of its database; by default the one of the run. */
  readonly postgresUrl?: string | undefined;
  /** Where the hosted data provider listens; with it network 1 is registered, whose provider it is. */
  readonly moralis?: { readonly baseUrl: string; readonly apiKey: string };
};

const secretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** The whole service on a database of its own, with two companies, four keys and the network 31337. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const database = await createTestDatabase(options.postgresUrl);
  const { keys, companies } = await populate(database.db, options);
  const opened: TestService[] = [];
  const open = async (settings: Readonly<Record<string, string>> = {}): Promise<TestService> => {
    const service = await openService(database, {
      ...options,
      settings: { ...options.settings, ...settings },
    });
    const whole: TestService = { ...service, keys, companies, twin: open };
    opened.push(whole);
    return whole;
  };
  const first = await open();
  return {
    ...first,
    async close() {
      for (const service of opened) await service.close();
      await database.close();
    },
  };
}

async function openService(database: TestDatabase, options: ServiceOptions) {
  const config = loadConfig({
    DATABASE_URL: database.url,
    SECRET_KEYS: secretKeys,
    CURSOR_KEYS: secretKeys,
    KEY_ENVIRONMENT: 'test',
    RATE_LIMIT_PER_SECOND: '0',
    RPC_TIMEOUT_MS: '2000',
    ...(options.moralis && {
      MORALIS_BASE_URL: options.moralis.baseUrl,
      MORALIS_API_KEY: options.moralis.apiKey,
      MORALIS_TIMEOUT_MS: '5000',
      MORALIS_DEADLINE_MS: '10000',
    }),
    ...options.settings,
  });
  const built = await createParts(config, createLogger({ level: 'silent' }));
  const parts: Parts = { ...built, ...options.replace?.(built) };
  const app = await createServiceApp(parts);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const conformance = createConformance({ coverageFile: inject('coverageFile') });
  return {
    parts,
    db: database.db,
    databaseUrl: database.url,
    baseUrl: `http://127.0.0.1:${port}`,
    as: (key?: string) => createClient(server, key, conformance.check),
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
      await closeParts(built);
    },
  };
}

function createClient(
  server: Parameters<typeof request>[0],
  key: string | undefined,
  check: (answer: Answer) => void,
): Client {
  const send = (method: Method) => (path: string) => {
    const test = request(server)
      [method](path)
      .expect((response) =>
        check({
          method,
          path,
          status: response.status,
          headers: response.headers,
          text: response.text ?? '',
        }),
      );
    return key === undefined ? test : test.set('x-api-key', key);
  };
  return {
    get: send('get'),
    post: send('post'),
    put: send('put'),
    patch: send('patch'),
    delete: send('delete'),
    head: send('head'),
    options: send('options'),
  };
}

async function populate(db: TestDatabase['db'], { rpcUrl = 'http://127.0.0.1:9', moralis }: ServiceOptions) {
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
  // Somebody signs there; whether anybody works is another matter.
  await db('mint_lanes').insert({ chain_id: 31337, signer: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65' });
  if (moralis !== undefined) {
    await db('networks').insert({ ...network, chain_id: 1, name: 'Hosted chain', data_provider: 'moralis' });
  }
  const companyStore = createCompanyStore({ db });
  const keyStore = createKeyStore({ db });
  const treasuryAddress = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
  const acme = await companyStore.create({ name: 'acme', treasuryAddress });
  const globex = await companyStore.create({ name: 'globex', treasuryAddress });
  const key = async (companyId: string | null, label: string) =>
    keyStore.create('test', { companyId, label });
  const revoked = await key(acme.id, 'revoked');
  await keyStore.revoke(revoked.record.id);
  const keys: Keys = {
    acme: (await key(acme.id, 'acme')).key,
    globex: (await key(globex.id, 'globex')).key,
    noCompany: (await key(null, 'nobody')).key,
    revoked: revoked.key,
  };
  return { keys, companies: { acme: acme.id, globex: globex.id } };
}
