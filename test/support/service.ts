import request, { type Test } from 'supertest';
import { inject } from 'vitest';
import type { Parts } from '../../src/compose.ts';
import { type Answer, createConformance } from './conformance.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { type Population, populate, type ServiceOptions, serve } from './serving.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';

/** Sends requests with one key, or none; every answer is held against the documents. */
export type Client = Readonly<Record<Method, (path: string) => Test>>;

export type TestService = Population & {
  readonly parts: Parts;
  readonly db: TestDatabase['db'];
  readonly databaseUrl: string;
  /** Where it listens, for requests that belong to no document. */
  readonly baseUrl: string;
  /** A client with this key; without one, no key is sent. */
  as(key?: string): Client;
  /** Holds an answer against the documents, for clients of other kinds. */
  check(answer: Answer): void;
  /** Another process of the same service, so to say: its own parts over the same database. */
  twin(settings?: Readonly<Record<string, string>>): Promise<TestService>;
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

/** Starts the whole service on an empty database, with two companies, four keys and the network 31337. */
export async function startServiceOn(database: TestDatabase, options: ServiceOptions): Promise<TestService> {
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
    },
  };
}

async function openService(database: TestDatabase, options: ServiceOptions) {
  const { parts, baseUrl, close } = await serve(database.url, options);
  const { check } = createConformance({ coverageFile: inject('coverageFile') });
  return {
    ...{ parts, baseUrl, check, close },
    db: database.db,
    databaseUrl: database.url,
    as: (key?: string) => createClient(baseUrl, key, check),
  };
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
