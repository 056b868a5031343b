import request, { type Test } from 'supertest';
import { inject } from 'vitest';
import type { ApiParts } from '../../src/compose/api.ts';
import type { FixedValues } from '../../src/config/fixed-values.ts';
import { type Answer, createConformance } from './conformance.ts';
import { asUser, createTestDatabase, type TestDatabase } from './database.ts';
import { type Population, populate, type ServiceOptions, serve } from './serving.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';

/** Sends requests with one key, or none, and checks every answer against the documents. */
export type Client = Readonly<Record<Method, (path: string) => Test>>;

export type TestService = Population & {
  readonly parts: ApiParts;
  readonly db: TestDatabase['db'];
  readonly databaseUrl: string;
  /** The URL of its listener, for requests that belong to no document. */
  readonly baseUrl: string;
  /** Creates a client that sends this key, or no key. */
  as(key?: string): Client;
  /** Checks an answer against the documents, for clients of other kinds. Throws where they differ. */
  check(answer: Answer): void;
  /** Starts a second instance with its own parts on the same database, as another process would be. */
  twin(settings?: Readonly<Record<string, string>>, fixed?: Partial<FixedValues>): Promise<TestService>;
  close(): Promise<void>;
};

/** Starts the whole service on a new database, which it closes too. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const database = await createTestDatabase(options.postgresUrl);
  const service = await startServiceOn(database, options);
  return {
    ...service,
    async close() {
      await service.close();
      await database.close();
    },
  };
}

/** Starts the whole service on an empty database that the caller closes, with two companies, five keys and the network 31337. */
export async function startServiceOn(database: TestDatabase, options: ServiceOptions): Promise<TestService> {
  const { keys, companies } = await populate(database.db, options);
  const opened: TestService[] = [];
  const open: TestService['twin'] = async (settings = {}, fixed = {}) => {
    const service = await openService(database, {
      ...options,
      settings: { ...options.settings, ...settings },
      fixed: { ...options.fixed, ...fixed },
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
    },
  };
}

async function openService(database: TestDatabase, options: ServiceOptions) {
  const reach = reachOf(asUser(database.url, options.databaseUser ?? 'test_api'));
  const { parts, baseUrl, close } = await serve(reach.DATABASE_URL, {
    ...options,
    settings: { ...reach, ...options.settings },
  });
  const { check } = createConformance({ coverageFile: inject('coverageFile') });
  return {
    parts,
    baseUrl,
    check,
    close,
    db: database.db,
    databaseUrl: database.url,
    as: (key?: string) => createClient(baseUrl, key, check),
  };
}

/** By way of the pooler of the run, where there is one and the database is on the run's server. */
function reachOf(databaseUrl: string): Record<'DATABASE_URL', string> & Record<string, string> {
  const [pooler, server] = [inject('poolerUrl'), inject('postgresUrl')];
  if (pooler === '' || new URL(databaseUrl).host !== new URL(server).host)
    return { DATABASE_URL: databaseUrl };
  const pooled = new URL(databaseUrl);
  pooled.host = new URL(pooler).host;
  return { DATABASE_URL: pooled.href, DATABASE_SESSION_URL: databaseUrl };
}

function createClient(baseUrl: string, key: string | undefined, check: (answer: Answer) => void): Client {
  const send = (method: Method) => (path: string) => {
    const test = request(baseUrl)
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
